//! Requests from clients: their `_meta`, their methods, and the requested operations. Operations are the same in both eras.

use std::borrow::Cow;

use mcp_runtime_wire::{Id, IndexedObject, JsonKind, Raw, RpcParams, USUAL_META};

use super::{
    call::{Received, RefusedRequest, ReplyTo},
    encode,
    revision::Revision,
    service::{Feature, Service},
};
use crate::{
    call::context::Carrier,
    catalog::Snapshot,
    dispatch::{Reference, Request},
    error::{Error, ErrorKind, shown},
    limits::Limits,
    model::{Level, ListKind},
};

const VERSION: &str = USUAL_META[0];
const CAPABILITIES: &str = USUAL_META[2];
const CLIENT: &str = USUAL_META[1];
pub(super) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Returns headers and body of `server/discover`, the shortest request that every server answers with 200 and without a session.
#[cfg(all(feature = "http", feature = "stdio"))]
pub(crate) fn example_request() -> ([(&'static str, String); 2], String) {
    const METHOD: &str = "server/discover";
    let revision = Revision::MODERN[0];
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{METHOD}","params":{{"_meta":{{"{VERSION}":"{revision}","{CAPABILITIES}":{{}}}}}}}}"#
    );
    ([("MCP-Protocol-Version", revision.to_string()), ("Mcp-Method", METHOD.to_owned())], body)
}

/// Request as it was received, and the destination of its response.
pub(super) struct ClientRequest<'a> {
    pub(super) id: Id<'a>,
    pub(super) method: &'a str,
    /// The parameters. An empty object if the request has none.
    pub(super) params: &'a RpcParams<'a>,
    pub(super) meta: RequestMeta<'a>,
    pub(super) to: &'a ReplyTo,
    pub(super) carrier: &'a Carrier,
}

impl ClientRequest<'_> {
    /// Answers the request with an error.
    pub(super) fn refuse(&self, revision: Revision, error: &Error) {
        self.to.error(revision, Some(self.id), error);
    }

    /// Answers a request that was refused before a handler ran.
    pub(super) fn reject(
        &self,
        revision: Revision,
        refused: impl Into<RefusedRequest>,
        received: &mut Received,
    ) {
        let RefusedRequest { refusal, error } = refused.into();
        received.refusal = refusal.or(received.refusal.take());
        self.refuse(revision, &error);
    }

    /// Answers the request with an empty result.
    pub(super) fn acknowledge(&self, service: &Service, revision: Revision) {
        self.to.write(|out| encode::empty(out, service, revision, self.id));
    }
}

/// `_meta` of a request. All members that the server uses are found in one pass.
pub(super) struct RequestMeta<'a> {
    pub(super) whole: Option<Raw<'a>>,
    pub(super) progress_token: Option<Raw<'a>>,
    version: Option<Raw<'a>>,
    capabilities: Option<Raw<'a>>,
    pub(super) client: Option<Raw<'a>>,
    pub(super) log_level: Option<Raw<'a>>,
}

impl<'a> RequestMeta<'a> {
    pub(super) fn read(meta: Option<IndexedObject<'a>>) -> Self {
        let names = ["progressToken", VERSION, CAPABILITIES, CLIENT, LOG_LEVEL];
        let [progress_token, version, capabilities, client, log_level] =
            meta.map_or_else(Default::default, |meta| meta.pick(names));
        let whole = meta.map(|meta| meta.whole);
        Self { whole, progress_token, version, capabilities, client, log_level }
    }

    /// Returns whether the `_meta` or the method of a request belongs to the modern era (`docs/rules.md`, section B2). A method that exists in
    /// both eras does not decide this (rule C-01).
    pub(super) fn claims(&self, method: &str) -> bool {
        self.version.is_some()
            || self.capabilities.is_some()
            || matches!(method, "server/discover" | "subscriptions/listen")
    }

    /// Returns whether `_meta` has no member of the modern era, so that only the header or the method of a request can claim that era.
    #[cfg(feature = "http")]
    pub(super) fn is_bare(&self) -> bool {
        self.version.is_none() && self.capabilities.is_none()
    }

    /// Returns the version and the capabilities from `_meta`. Every version of the modern era requires both members, so this check comes
    /// first (rule META-01).
    #[inline]
    pub(super) fn envelope(&self) -> Result<(Raw<'a>, Raw<'a>), Error> {
        if self.whole.is_none_or(|meta| meta.kind() != JsonKind::Object) {
            return Err(Error::invalid_params(format_args!(
                "`_meta` must be an object with `{VERSION}` and `{CAPABILITIES}`"
            )));
        }
        let of_kind = |member: Option<Raw<'a>>, key: &str, kind: JsonKind, what: &str| {
            let found = member
                .ok_or_else(|| Error::invalid_params(format_args!("`_meta` has no `{key}`")))?;
            if found.kind() == kind {
                Ok(found)
            } else {
                Err(Error::invalid_params(format_args!("`{key}` must be {what}")))
            }
        };
        Ok((
            of_kind(self.version, VERSION, JsonKind::String, "a string")?,
            of_kind(self.capabilities, CAPABILITIES, JsonKind::Object, "an object")?,
        ))
    }
}

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

    /// Returns whether the server has the feature that the method belongs to.
    pub(super) fn is_served(self, revision: Revision, snapshot: &Snapshot) -> bool {
        let has = |feature: Feature| feature.is_served(snapshot);
        match self {
            Self::List(ListKind::Tools) | Self::CallTool => has(Feature::Tools),
            Self::List(ListKind::Resources | ListKind::Templates) | Self::ReadResource => {
                has(Feature::Resources)
            }
            Self::List(ListKind::Prompts) | Self::GetPrompt => has(Feature::Prompts),
            // Revision 2024-11-05 has completion without a capability for it, so its clients may request completion for any prompt or
            // template.
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
    /// Returns an invalid-params error that names the missing or wrong member.
    #[inline]
    pub(super) fn operation<'a>(self, params: &'a RpcParams<'a>) -> Result<Request<'a>, Error> {
        match self {
            Self::List(kind) => list(kind, params),
            Self::CallTool => {
                let name = string(params.get("name"), "name")?;
                let arguments = params.arguments().filter(|arguments| !arguments.whole.is_null());
                Ok(Request::CallTool { name, arguments })
            }
            Self::ReadResource => {
                Ok(Request::ReadResource { uri: string(params.get("uri"), "uri")? })
            }
            Self::GetPrompt => {
                let [name, arguments] = params.pick(["name", "arguments"]);
                Ok(Request::GetPrompt {
                    name: string(name, "name")?,
                    arguments: non_null(arguments),
                })
            }
            Self::Complete => complete(params),
        }
    }
}

/// Checks the combined size of `clientInfo` and the capabilities against the limit.
pub(super) fn check_client(
    limits: &Limits,
    info: Option<Raw<'_>>,
    capabilities: Option<Raw<'_>>,
) -> Result<(), Error> {
    let size =
        [info, capabilities].into_iter().flatten().map(|json| json.as_str().len()).sum::<usize>();
    if size <= limits.client {
        return Ok(());
    }
    let limit = limits.client;
    Err(Error::invalid_params(format_args!(
        "the client's description of itself has {size} bytes: at most {limit} are allowed"
    )))
}

/// Reads a required member, which must be a string.
pub(super) fn string<'a>(member: Option<Raw<'a>>, name: &str) -> Result<Cow<'a, str>, Error> {
    match member {
        None => Err(Error::invalid_params(format_args!("`{name}` is missing"))),
        Some(json) => json
            .string()
            .ok_or_else(|| Error::invalid_params(format_args!("`{name}` must be a string"))),
    }
}

/// Treats null as absent, because some clients send null for members that they leave out.
fn non_null(member: Option<Raw<'_>>) -> Option<Raw<'_>> {
    member.filter(|json| !json.is_null())
}

/// Reads the request of a list. An empty cursor does not count as absent (rule C-15).
fn list<'a>(kind: ListKind, params: &RpcParams<'a>) -> Result<Request<'a>, Error> {
    let cursor =
        non_null(params.get("cursor")).map(|cursor| string(Some(cursor), "cursor")).transpose()?;
    Ok(Request::List { kind, cursor })
}

fn complete<'a>(params: &RpcParams<'a>) -> Result<Request<'a>, Error> {
    let [reference, argument, context] = params.pick(["ref", "argument", "context"]);
    let reference = reference.ok_or_else(|| Error::invalid_params("`ref` is missing"))?;
    let member = |name: &str| string(reference.get(name), name);
    let kind = member("type")?;
    let reference = match &*kind {
        "ref/prompt" => Reference::Prompt(member("name")?),
        "ref/resource" => Reference::Resource(member("uri")?),
        other => {
            return Err(Error::invalid_params(format_args!(
                "`ref.type` is `ref/prompt` or `ref/resource`, not `{}`",
                shown(other)
            )));
        }
    };
    let argument = argument.ok_or_else(|| Error::invalid_params("`argument` is missing"))?;
    let [name, value] = argument.pick(["name", "value"]);
    Ok(Request::Complete {
        reference,
        argument: string(name, "name")?,
        value: string(value, "value")?,
        given: context.and_then(|context| context.get("arguments")),
    })
}

/// Returns the level of this name.
///
/// # Errors
/// Returns an invalid-params error that lists the valid names.
pub(super) fn parse_level(name: &str) -> Result<Level, Error> {
    Level::parse(name).ok_or_else(|| {
        let names: Vec<_> = Level::ALL.iter().map(|level| level.name()).collect();
        Error::invalid_params(format_args!(
            "`{}` is no log level: {}",
            shown(name),
            names.join(", ")
        ))
    })
}

pub(super) fn unknown_method(method: &str) -> Error {
    Error::of(ErrorKind::MethodNotFound, format_args!("method not found: {}", shown(method)))
}
