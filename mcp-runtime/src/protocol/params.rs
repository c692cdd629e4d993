//! From method and parameters to an operation: the same in both eras.

use std::borrow::Cow;

use super::encode::Feature;
use crate::{
    dispatch::{Reference, Request},
    error::{Error, Kind},
    model::ListKind,
    wire::Raw,
};

/// The operation a method stands for, or `None` when it is none of the items' methods.
pub(super) fn operation<'a>(
    method: &str,
    params: Option<Raw<'a>>,
) -> Option<(Feature, Result<Request<'a>, Error>)> {
    let params = params.unwrap_or(Raw::EMPTY_OBJECT);
    Some(match method {
        "tools/list" => (Feature::Tools, list(ListKind::Tools, params)),
        "tools/call" => (Feature::Tools, call(params)),
        "resources/list" => (Feature::Resources, list(ListKind::Resources, params)),
        "resources/templates/list" => (Feature::Resources, list(ListKind::Templates, params)),
        "resources/read" => {
            (Feature::Resources, text(params, "uri").map(|uri| Request::ReadResource { uri }))
        }
        "prompts/list" => (Feature::Prompts, list(ListKind::Prompts, params)),
        "prompts/get" => (Feature::Prompts, prompt(params)),
        "completion/complete" => (Feature::Completions, complete(params)),
        _ => return None,
    })
}

pub(super) fn invalid(message: impl std::fmt::Display) -> Error {
    Error::of(Kind::InvalidParams, message)
}

/// A member that must be there and be a string.
pub(super) fn text<'a>(params: Raw<'a>, name: &str) -> Result<Cow<'a, str>, Error> {
    match params.get(name) {
        None => Err(invalid(format_args!("`{name}` is missing"))),
        Some(it) => it.string().ok_or_else(|| invalid(format_args!("`{name}` must be a string"))),
    }
}

/// Present and empty is not absent (C-15). Null is: some clients send it for what they leave out.
fn list(kind: ListKind, params: Raw<'_>) -> Result<Request<'_>, Error> {
    let cursor = match params.get("cursor").filter(|it| !it.is_null()) {
        None => None,
        Some(it) => Some(it.string().ok_or_else(|| invalid("`cursor` must be a string"))?),
    };
    Ok(Request::List { kind, cursor })
}

fn call(params: Raw<'_>) -> Result<Request<'_>, Error> {
    Ok(Request::CallTool { name: text(params, "name")?, arguments: arguments(params) })
}

fn prompt(params: Raw<'_>) -> Result<Request<'_>, Error> {
    Ok(Request::GetPrompt { name: text(params, "name")?, arguments: arguments(params) })
}

/// Some clients send null for what they leave out.
fn arguments(params: Raw<'_>) -> Option<Raw<'_>> {
    params.get("arguments").filter(|it| !it.is_null())
}

fn complete(params: Raw<'_>) -> Result<Request<'_>, Error> {
    let reference = params.get("ref").ok_or_else(|| invalid("`ref` is missing"))?;
    let kind = text(reference, "type")?;
    let reference = match &*kind {
        "ref/prompt" => Reference::Prompt(text(reference, "name")?),
        "ref/resource" => Reference::Resource(text(reference, "uri")?),
        other => {
            return Err(invalid(format_args!(
                "`ref.type` is `ref/prompt` or `ref/resource`, not `{other}`"
            )));
        }
    };
    let argument = params.get("argument").ok_or_else(|| invalid("`argument` is missing"))?;
    Ok(Request::Complete {
        reference,
        argument: text(argument, "name")?,
        value: text(argument, "value")?,
        given: params.get("context").and_then(|it| it.get("arguments")),
    })
}
