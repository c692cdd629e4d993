//! Turns method and parameters into an operation, in the same way for both eras.

use std::borrow::Cow;

use super::{revision::Revision, service::Feature};
use crate::{
    catalog::Snapshot,
    dispatch::{Reference, Request},
    error::{Error, Kind, shown},
    limits::Limits,
    model::ListKind,
    wire::{Params, Raw},
};

/// Method that concerns items. All other methods are handled within their era.
#[derive(Clone, Copy)]
pub(super) enum Method {
    List(ListKind),
    CallTool,
    ReadResource,
    GetPrompt,
    Complete,
}

impl Method {
    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "tools/list" => Self::List(ListKind::Tools),
            "tools/call" => Self::CallTool,
            "resources/list" => Self::List(ListKind::Resources),
            "resources/templates/list" => Self::List(ListKind::Templates),
            "resources/read" => Self::ReadResource,
            "prompts/list" => Self::List(ListKind::Prompts),
            "prompts/get" => Self::GetPrompt,
            "completion/complete" => Self::Complete,
            _ => return None,
        })
    }

    /// Whether the server has the feature of the method.
    pub(super) fn is_served(self, revision: Revision, snapshot: &Snapshot) -> bool {
        let has = |feature: Feature| feature.is_served(snapshot);
        match self {
            Self::List(ListKind::Tools) | Self::CallTool => has(Feature::Tools),
            Self::List(ListKind::Resources | ListKind::Templates) | Self::ReadResource => {
                has(Feature::Resources)
            }
            Self::List(ListKind::Prompts) | Self::GetPrompt => has(Feature::Prompts),
            // Revision 2024-11-05 has completion without a capability, so clients may request it for any prompt or template.
            Self::Complete => {
                has(Feature::Completions)
                    || (!revision.features().completions_capability
                        && (has(Feature::Prompts) || has(Feature::Resources)))
            }
        }
    }

    /// Returns the operation for the method and its parameters.
    ///
    /// # Errors
    /// Invalid params, with the member that is missing or wrong.
    pub(super) fn operation<'a>(self, params: &'a Params<'a>) -> Result<Request<'a>, Error> {
        match self {
            Self::List(kind) => list(kind, params),
            Self::CallTool => {
                let name = string(params.get("name"), "name")?;
                let arguments = params.arguments().filter(|it| !it.whole.is_null());
                Ok(Request::CallTool { name, arguments })
            }
            Self::ReadResource => {
                Ok(Request::ReadResource { uri: string(params.get("uri"), "uri")? })
            }
            Self::GetPrompt => {
                let [name, arguments] = params.pick(["name", "arguments"]);
                Ok(Request::GetPrompt { name: string(name, "name")?, arguments: given(arguments) })
            }
            Self::Complete => complete(params),
        }
    }
}

/// Checks that the client describes itself in no more bytes than can be kept.
pub(super) fn check_client(
    limits: &Limits,
    info: Option<Raw<'_>>,
    capabilities: Option<Raw<'_>>,
) -> Result<(), Error> {
    let size =
        [info, capabilities].into_iter().flatten().map(|it| it.as_str().len()).sum::<usize>();
    if size <= limits.client {
        return Ok(());
    }
    let limit = limits.client;
    Err(invalid(format_args!("the client describes itself in {size} bytes: at most {limit}")))
}

pub(super) fn invalid(message: impl std::fmt::Display) -> Error {
    Error::of(Kind::InvalidParams, message)
}

/// Reads a member that must be there and be a string.
pub(super) fn string<'a>(member: Option<Raw<'a>>, name: &str) -> Result<Cow<'a, str>, Error> {
    match member {
        None => Err(invalid(format_args!("`{name}` is missing"))),
        Some(it) => it.string().ok_or_else(|| invalid(format_args!("`{name}` must be a string"))),
    }
}

/// Treats null as absent, because some clients send null for members that they leave out.
fn given(member: Option<Raw<'_>>) -> Option<Raw<'_>> {
    member.filter(|it| !it.is_null())
}

/// Reads the request of a list. A cursor that is empty is not absent (rule C-15).
fn list<'a>(kind: ListKind, params: &Params<'a>) -> Result<Request<'a>, Error> {
    let cursor = given(params.get("cursor")).map(|it| string(Some(it), "cursor")).transpose()?;
    Ok(Request::List { kind, cursor })
}

fn complete<'a>(params: &Params<'a>) -> Result<Request<'a>, Error> {
    let [reference, argument, context] = params.pick(["ref", "argument", "context"]);
    let reference = reference.ok_or_else(|| invalid("`ref` is missing"))?;
    let member = |name: &str| string(reference.get(name), name);
    let kind = member("type")?;
    let reference = match &*kind {
        "ref/prompt" => Reference::Prompt(member("name")?),
        "ref/resource" => Reference::Resource(member("uri")?),
        other => {
            return Err(invalid(format_args!(
                "`ref.type` is `ref/prompt` or `ref/resource`, not `{}`",
                shown(other)
            )));
        }
    };
    let argument = argument.ok_or_else(|| invalid("`argument` is missing"))?;
    let [name, value] = argument.pick(["name", "value"]);
    Ok(Request::Complete {
        reference,
        argument: string(name, "name")?,
        value: string(value, "value")?,
        given: context.and_then(|it| it.get("arguments")),
    })
}
