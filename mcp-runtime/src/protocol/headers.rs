//! Checks the headers of HTTP requests. They name the protocol revision, and repeat parts of the body for proxies that route requests without
//! reading the body (`docs/rules.md`, section B9). The server rejects a request whose headers and body disagree. The headers and the message
//! together determine the conversation that the message belongs to (section B2).

use std::borrow::Cow;

use http::HeaderMap;
use mcp_runtime_wire::{Incoming, JsonKind, Raw, RpcMessage, RpcParams};

use super::{
    request::{ClientRequest, RequestMeta},
    revision::Revision,
};
use crate::{
    call::read::header,
    error::{Error, ErrorKind, shown},
    schema::header::HeaderArgument,
};

/// Header that names the protocol revision.
pub(crate) const VERSION_HEADER: &str = "mcp-protocol-version";

/// Conversation that a message belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// Message of the modern era, without a session.
    Modern,
    /// Request of the modern era whose answer is a stream of events.
    Listen,
    /// Request that begins a session.
    Initialize,
    /// Message of an existing session, which a header identifies.
    Session,
}

/// Returns the route of a message. A message is modern if its version header names a modern or an unknown revision. A request is also
/// modern if its `_meta` or its method belongs to the modern era.
pub(crate) fn route(incoming: &Incoming<'_>, version: Option<&[u8]>) -> Route {
    let by_header = version.is_some_and(|said| {
        let named = Revision::ALL.into_iter().find(|revision| revision.name().as_bytes() == said);
        named.is_none_or(Revision::is_modern)
    });
    match incoming {
        Incoming::One(Ok(RpcMessage::Request { method, params, .. })) => {
            let is_modern = by_header || {
                let meta = params.and_then(RpcParams::meta);
                RequestMeta::read(meta).claims(method)
            };
            match (is_modern, &**method) {
                (true, "subscriptions/listen") => Route::Listen,
                (true, _) => Route::Modern,
                (false, "initialize") => Route::Initialize,
                (false, _) => Route::Session,
            }
        }
        _ if by_header => Route::Modern,
        _ => Route::Session,
    }
}

const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
/// Member of the parameters that names a task. The header `Mcp-Name` repeats its value.
const TASK: &str = "taskId";

/// Checks the headers that every request of the modern era has.
///
/// # Errors
/// Returns the first header that is missing, repeated or different from the body.
pub(super) fn check(
    headers: &HeaderMap,
    version: &str,
    request: &ClientRequest<'_>,
) -> Result<(), Error> {
    let [version_header, method_header, name_header] = mirrored_headers(headers);
    version_header?.must_be(VERSION_HEADER, version)?;
    method_header?.must_be(METHOD, request.method)?;
    let member = match request.method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => TASK,
        _ => return Ok(()),
    };
    let header = name_header?.0;
    match (header, request.params.get(member).and_then(Raw::string)) {
        // A member missing in the body is reported later, with a different error.
        (None, None) => Ok(()),
        // Some clients omit the header for a task (rule HDR-02). If it is present, it must still agree with the body.
        (None, Some(_)) if member == TASK => Ok(()),
        (None, Some(_)) => Err(missing(NAME, &format!("`params.{member}`"))),
        (Some(_), None) => Err(mismatch(format_args!(
            "the header `{NAME}` is present, but the body has no string `params.{member}`"
        ))),
        (Some(said), Some(name)) => match header::decode(said) {
            Some(said) if said == name => Ok(()),
            Some(said) => Err(differs(NAME, &said, &name)),
            None => Err(undecodable(NAME)),
        },
    }
}

/// Value of a header, without surrounding whitespace.
#[derive(Clone, Copy, Default)]
struct MirroredHeader<'a>(Option<&'a [u8]>);

/// Finds the three headers in one pass. A header that occurs twice is an error (rule HDR-10).
fn mirrored_headers(headers: &HeaderMap) -> [Result<MirroredHeader<'_>, Error>; 3] {
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
    std::array::from_fn(|at| if is_repeated[at] { Err(repeated(names[at])) } else { Ok(all[at]) })
}

impl MirroredHeader<'_> {
    fn must_be(self, name: &str, expected: &str) -> Result<(), Error> {
        match self.0 {
            None => Err(missing(name, &format!("`{}`", shown(expected)))),
            Some(said) if said == expected.as_bytes() => Ok(()),
            Some(said) => Err(differs(name, &String::from_utf8_lossy(said), expected)),
        }
    }
}

/// Returns the value of the version header if it names no revision.
pub(super) fn unknown_version(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    let [version, ..] = mirrored_headers(headers);
    let version = String::from_utf8_lossy(version.ok()?.0?);
    Revision::parse(&version).is_none().then_some(version)
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
        // Wrong arguments take precedence over wrong headers, so they are left to the parsing of the arguments, which reports them.
        return Ok(());
    }
    for declared in declared {
        let name = &declared.header;
        let argument = || declared.path.join(".");
        match (single_header(headers, name)?, declared.value(arguments)) {
            (None, None) => {}
            (None, Some(_)) => {
                return Err(missing(name, &format!("the argument `{}`", argument())));
            }
            (Some(_), None) => {
                return Err(mismatch(format_args!(
                    "the header `{name}` is present, but the argument `{}` is missing",
                    argument()
                )));
            }
            (Some(said), Some(value)) if header::agrees(said, value) => {}
            (Some(said), Some(_)) => {
                let error = if header::decode(said).is_some() {
                    mismatch(format_args!(
                        "the header `{name}` and the argument `{}` differ",
                        argument()
                    ))
                } else {
                    undecodable(name)
                };
                return Err(error);
            }
        }
    }
    Ok(())
}

/// Returns the value of a header, without surrounding whitespace. A header that occurs twice is an error (rule HDR-10).
fn single_header<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a [u8]>, Error> {
    let mut all = headers.get_all(name).iter();
    let first = all.next();
    if all.next().is_some() {
        return Err(repeated(name));
    }
    Ok(first.map(|value| value.as_bytes().trim_ascii()))
}

#[cold]
fn repeated(name: &str) -> Error {
    mismatch(format_args!("the header `{name}` occurs twice"))
}

#[cold]
fn missing(name: &str, what: &str) -> Error {
    mismatch(format_args!("the header `{name}` is missing: it must repeat {what}"))
}

#[cold]
fn differs(name: &str, said: &str, expected: &str) -> Error {
    mismatch(format_args!(
        "the header `{name}` is `{}`, but the body has `{}`",
        shown(said),
        shown(expected)
    ))
}

#[cold]
fn undecodable(name: &str) -> Error {
    mismatch(format_args!(
        "the header `{name}` cannot be decoded: send plain ASCII, or `=?base64?…?=`"
    ))
}

#[cold]
fn mismatch(text: impl std::fmt::Display) -> Error {
    Error::of(ErrorKind::HeaderMismatch, text)
}

#[cfg(test)]
mod tests {
    use mcp_runtime_wire as wire;

    use super::*;

    fn check(message: &str, version: Option<&str>, expected: Route) {
        let (limits, mut parsed) =
            (wire::ParseLimits { depth: 9, batch: 9 }, wire::Parsed::default());
        let incoming = wire::parse(message.as_bytes(), limits, &mut parsed).unwrap();
        assert_eq!(route(&incoming, version.map(str::as_bytes)), expected, "{message} {version:?}");
    }

    #[test]
    fn the_era_is_decided_for_each_message() {
        let modern = Revision::MODERN[0].name();
        let legacy = Revision::NEWEST_LEGACY.name();
        let request = |method: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
        let claiming = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{modern}"}}}}}}"#
        );
        check(&claiming, None, Route::Modern);
        check(&claiming.replace("_meta", "\\u005fmeta"), None, Route::Modern);
        check(&claiming, Some(legacy), Route::Modern);
        check(&request("initialize"), None, Route::Initialize);
        check(&request("initialize"), Some(legacy), Route::Initialize);
        check(&request("initialize"), Some(modern), Route::Modern);
        check(&request("tools/list"), None, Route::Session);
        check(&request("tools/list"), Some("v9"), Route::Modern);
        check(&request("server/discover"), None, Route::Modern);
        check(&request("subscriptions/listen"), None, Route::Listen);
        check(r#"{"jsonrpc":"2.0","method":"n"}"#, None, Route::Session);
        check(r#"{"jsonrpc":"2.0","method":"n"}"#, Some(modern), Route::Modern);
        check("[]", Some(legacy), Route::Session);
        check("[]", Some(modern), Route::Modern);
    }
}
