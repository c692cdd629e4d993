//! Headers that repeat parts of the body, for proxies that route without reading the body (rule B9). Header and body must agree.

use http::HeaderMap;

use super::{request::ClientRequest, route::VERSION_HEADER};
use crate::{
    call::extract::header,
    error::{Error, Kind, shown},
    schema::header::HeaderArgument,
    wire::{Kind as JsonKind, Raw},
};

const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
/// Member that names a task.
const TASK: &str = "taskId";

/// Checks the headers that every request has.
///
/// # Errors
/// Returns the first header that is missing, repeated or different from the body.
pub(super) fn check(
    headers: &HeaderMap,
    version: &str,
    request: &ClientRequest<'_>,
) -> Result<(), Error> {
    let [said_version, said_method, said_name] = each(headers);
    said_version?.literally(VERSION_HEADER, version)?;
    said_method?.literally(METHOD, request.method)?;
    let member = match request.method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => TASK,
        _ => return Ok(()),
    };
    let header = said_name?.0;
    match (header, request.params.get(member).and_then(Raw::string)) {
        // A member that the body lacks is another error, which is reported later.
        (None, None) => Ok(()),
        // Some clients leave the header out (rule HDR-02). A header that is present must still be right.
        (None, Some(_)) if member == TASK => Ok(()),
        (None, Some(_)) => Err(missing(NAME, &format!("`params.{member}`"))),
        (Some(_), None) => Err(mismatch(format_args!(
            "`{NAME}` is there, but the body has no text `params.{member}`"
        ))),
        (Some(said), Some(name)) => match header::decode(said) {
            Some(said) if said == name => Ok(()),
            Some(said) => Err(differs(NAME, &said, &name)),
            None => Err(undecodable(NAME)),
        },
    }
}

/// Value of a header, without the blanks around it.
#[derive(Clone, Copy, Default)]
struct MirroredHeader<'a>(Option<&'a [u8]>);

/// Finds the three headers in one pass. A header that occurs twice is an error (rule HDR-10).
fn each(headers: &HeaderMap) -> [Result<MirroredHeader<'_>, Error>; 3] {
    let mut all = [MirroredHeader::default(); 3];
    let mut is_repeated = [false; 3];
    for (name, value) in headers {
        let at = match name.as_str() {
            VERSION_HEADER => 0,
            METHOD => 1,
            NAME => 2,
            _ => continue,
        };
        is_repeated[at] |= all[at].0.is_some();
        all[at].0 = Some(value.as_bytes().trim_ascii());
    }
    let names = [VERSION_HEADER, METHOD, NAME];
    std::array::from_fn(|at| if is_repeated[at] { Err(twice(names[at])) } else { Ok(all[at]) })
}

impl MirroredHeader<'_> {
    fn literally(self, name: &str, expected: &str) -> Result<(), Error> {
        match self.0 {
            None => Err(missing(name, &format!("`{}`", shown(expected)))),
            Some(said) if said == expected.as_bytes() => Ok(()),
            Some(said) => Err(differs(name, &String::from_utf8_lossy(said), expected)),
        }
    }
}

/// Checks the headers that repeat arguments of a tool.
///
/// # Errors
/// Returns the first header that does not agree with the arguments.
pub(super) fn check_arguments(
    headers: &HeaderMap,
    declared: &[HeaderArgument],
    arguments: Raw<'_>,
) -> Result<(), Error> {
    if arguments.kind() != JsonKind::Object {
        // Wrong arguments take precedence over wrong headers, and are reported where they are read (rule C-02).
        return Ok(());
    }
    for it in declared {
        let name = &it.header;
        let argument = || it.path.join(".");
        match (one(headers, name)?, it.value(arguments)) {
            (None, None) => {}
            (None, Some(_)) => {
                return Err(missing(name, &format!("the argument `{}`", argument())));
            }
            (Some(_), None) => {
                return Err(mismatch(format_args!(
                    "`{name}` is there, but the argument `{}` is not",
                    argument()
                )));
            }
            (Some(said), Some(value)) if header::agrees(said, value) => {}
            (Some(said), Some(_)) => {
                let error = if header::decode(said).is_some() {
                    mismatch(format_args!("`{name}` and the argument `{}` differ", argument()))
                } else {
                    undecodable(name)
                };
                return Err(error);
            }
        }
    }
    Ok(())
}

/// Returns a header without the blanks around it. A header that occurs twice is an error (rule HDR-10).
fn one<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a [u8]>, Error> {
    let mut all = headers.get_all(name).iter();
    let first = all.next();
    if all.next().is_some() {
        return Err(twice(name));
    }
    Ok(first.map(|it| it.as_bytes().trim_ascii()))
}

#[cold]
fn twice(name: &str) -> Error {
    mismatch(format_args!("`{name}` is there twice"))
}

#[cold]
fn missing(name: &str, what: &str) -> Error {
    mismatch(format_args!("the header `{name}` is missing: it repeats {what}"))
}

#[cold]
fn differs(name: &str, said: &str, expected: &str) -> Error {
    mismatch(format_args!("`{name}` says `{}`, and the body `{}`", shown(said), shown(expected)))
}

#[cold]
fn undecodable(name: &str) -> Error {
    mismatch(format_args!("`{name}` cannot be decoded: plain ASCII, or `=?base64?…?=`"))
}

#[cold]
fn mismatch(text: impl std::fmt::Display) -> Error {
    Error::of(Kind::HeaderMismatch, text)
}
