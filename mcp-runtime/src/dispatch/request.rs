//! Requests of clients, and the lookup of the items that they refer to.

use std::{borrow::Cow, cell::Cell, sync::Arc};

use mcp_runtime_wire::{IndexedObject, Raw};

use crate::{
    call::context::{Caller, Environment, LazyContext, States},
    call::extract::{ArgumentMember, Arguments, Call, Mode},
    catalog::{Entry, Handler, Snapshot},
    error::{Error, shown},
    model::{ListKind, Operation},
    unwind,
};

/// Request about tools, resources or prompts, in a form that does not depend on the protocol revision.
#[derive(Clone, Debug)]
pub(crate) enum Request<'a> {
    List {
        kind: ListKind,
        cursor: Option<Cow<'a, str>>,
    },
    CallTool {
        name: Cow<'a, str>,
        arguments: Option<IndexedObject<'a>>,
    },
    ReadResource {
        uri: Cow<'a, str>,
    },
    GetPrompt {
        name: Cow<'a, str>,
        arguments: Option<Raw<'a>>,
    },
    Complete {
        reference: Reference<'a>,
        argument: Cow<'a, str>,
        value: Cow<'a, str>,
        given: Option<Raw<'a>>,
    },
}

/// Prompt or resource whose argument is completed.
#[derive(Clone, Debug)]
pub(crate) enum Reference<'a> {
    Prompt(Cow<'a, str>),
    /// URI template, or a URI that belongs to a resource or matches a template.
    Resource(Cow<'a, str>),
}

impl Reference<'_> {
    /// Finds the item whose argument is completed.
    ///
    /// # Errors
    /// Fails if there is no such item. The error is meant for the client.
    pub(super) fn find<'s>(&self, snapshot: &'s Snapshot) -> Result<&'s Arc<Entry>, Error> {
        match self {
            Self::Prompt(name) => snapshot.find(ListKind::Prompts, name).ok_or_else(|| {
                let text = format!("unknown prompt `{}`", shown(name));
                let templates = snapshot.list(ListKind::Templates);
                Error::invalid_params(match templates.iter().find(|entry| entry.name == *name) {
                    Some(template) => format!(
                        "{text}; the template of this name is completed by its URI `{}`",
                        template.key()
                    ),
                    None => text,
                })
            }),
            Self::Resource(uri) => snapshot
                .find(ListKind::Templates, uri)
                .or_else(|| snapshot.find_resource(uri))
                .or_else(|| {
                    let matches = |entry: &&Arc<Entry>| {
                        let template =
                            entry.resource().and_then(|resource| resource.template.as_ref());
                        template.is_some_and(|template| template.matches(uri).is_some())
                    };
                    snapshot.list(ListKind::Templates).iter().find(matches)
                })
                .ok_or_else(|| {
                    Error::invalid_params(format_args!(
                        "no template is or matches `{}`",
                        shown(uri)
                    ))
                }),
        }
    }
}

impl Request<'_> {
    /// Replaces another spelling of a resource's URI by the URI that the author has written, which access rules and hooks compare. `target`
    /// is the item that the request refers to.
    pub(crate) fn respell(&mut self, target: Option<&Arc<Entry>>) {
        if let (Self::ReadResource { uri }, Some(entry)) = (self, target)
            && entry.key() != uri
            && entry.resource().is_some_and(|resource| resource.template.is_none())
        {
            *uri = entry.key().to_owned().into();
        }
    }

    /// Returns the item that the request refers to, for the checks before its handler runs. Returns `None` for lists and completions, and
    /// for URI templates if no template needs these checks.
    pub(crate) fn target<'s>(&self, snapshot: &'s Snapshot) -> Option<&'s Arc<Entry>> {
        match self {
            Self::CallTool { name, .. } => snapshot.find(ListKind::Tools, name),
            Self::GetPrompt { name, .. } => snapshot.find(ListKind::Prompts, name),
            Self::ReadResource { uri } => {
                snapshot.find_resource(uri).or_else(|| matching_template(snapshot, uri))
            }
            Self::List { .. } | Self::Complete { .. } => None,
        }
    }

    pub(crate) fn is_tool(&self) -> bool {
        matches!(self, Self::CallTool { .. })
    }

    pub(crate) fn operation(&self) -> Operation {
        match self {
            Self::List { kind: ListKind::Tools, .. } => Operation::ListTools,
            Self::List { kind: ListKind::Resources, .. } => Operation::ListResources,
            Self::List { kind: ListKind::Templates, .. } => Operation::ListResourceTemplates,
            Self::List { kind: ListKind::Prompts, .. } => Operation::ListPrompts,
            Self::CallTool { name, .. } => Operation::CallTool(name.to_string()),
            Self::ReadResource { uri } => Operation::ReadResource(uri.to_string()),
            Self::GetPrompt { name, .. } => Operation::GetPrompt(name.to_string()),
            Self::Complete { argument, .. } => Operation::Complete(argument.to_string()),
        }
    }
}

/// Variables of a template, with their values in a URI.
type MatchedVariables<'a> = Vec<ArgumentMember<'a, Cow<'a, str>>>;

/// Returns the templates that match a URI, each with its variables.
pub(super) fn matching_templates<'s: 'a, 'a>(
    snapshot: &'s Snapshot,
    uri: &'a str,
) -> impl Iterator<Item = (&'s Arc<Entry>, MatchedVariables<'a>)> {
    snapshot.list(ListKind::Templates).iter().filter_map(move |entry| {
        let template = entry.resource()?.template.as_ref()?;
        let variables = template.matches(uri)?.into_iter();
        let members = variables.map(|(name, value)| ArgumentMember::new(name.into(), value));
        Some((entry, members.collect()))
    })
}

/// Returns the template that serves a URI. If several templates match, this is the first one whose variables fit their types, or else the
/// last one.
///
/// The result is needed only if some template is guarded, can send elicitation or sampling requests, or has a gate. Most servers have no
/// such template. For them, this function returns `None` without a search.
pub(super) fn matching_template<'s>(snapshot: &'s Snapshot, uri: &str) -> Option<&'s Arc<Entry>> {
    let templates = snapshot.list(ListKind::Templates);
    if !snapshot.guards(ListKind::Templates)
        && templates.iter().all(|entry| !entry.can_ask && entry.gate.is_none())
    {
        return None;
    }
    let mut candidates = matching_templates(snapshot, uri).peekable();
    while let Some((entry, variables)) = candidates.next() {
        if candidates.peek().is_none() || fits(entry, variables) {
            return Some(entry);
        }
    }
    None
}

/// Whether the variables can be parsed as the types of the handler's parameters. Parses them as a call does, without running the handler.
/// If parsing panics, the variables count as fitting, so that the call itself panics in the same way, and the client gets the response for
/// a panic.
fn fits(entry: &Entry, variables: MatchedVariables<'_>) -> bool {
    let Handler::Static(read) = entry.handler else { return true };
    let fits = Cell::new(false);
    let environment = Arc::new(Environment::new(States::default(), 0));
    let context = LazyContext::new(&environment, Caller::default(), None);
    let mode = Mode::Fit { fits: &fits };
    let call = Call::new(mode, Arguments::Text(variables), &entry.names, &context);
    unwind::catch(|| read(call)).is_err() || fits.get()
}

/// Owned copy of a request. The closure passed to `Builder::around` may run its `Next` after the buffer of the message has been reused, and
/// so may a call that waits for a store. Such a request must not borrow from the buffer.
pub(crate) enum OwnedRequest {
    List(ListKind, Option<String>),
    CallTool(String, Option<String>),
    ReadResource(String),
    GetPrompt(String, Option<String>),
    Complete {
        of_prompt: bool,
        target: String,
        argument: String,
        value: String,
        given: Option<String>,
    },
}

impl From<Request<'_>> for OwnedRequest {
    fn from(request: Request<'_>) -> Self {
        let text = |json: Option<Raw<'_>>| json.map(|json| json.as_str().to_owned());
        match request {
            Request::List { kind, cursor } => Self::List(kind, cursor.map(Into::into)),
            Request::CallTool { name, arguments } => {
                Self::CallTool(name.into(), text(arguments.map(|arguments| arguments.whole)))
            }
            Request::ReadResource { uri } => Self::ReadResource(uri.into()),
            Request::GetPrompt { name, arguments } => Self::GetPrompt(name.into(), text(arguments)),
            Request::Complete { reference, argument, value, given } => {
                let (of_prompt, target) = match reference {
                    Reference::Prompt(name) => (true, name.into()),
                    Reference::Resource(uri) => (false, uri.into()),
                };
                Self::Complete {
                    of_prompt,
                    target,
                    argument: argument.into(),
                    value: value.into(),
                    given: text(given),
                }
            }
        }
    }
}

impl OwnedRequest {
    pub(crate) fn borrow(&self) -> Request<'_> {
        fn raw(json: &Option<String>) -> Option<Raw<'_>> {
            json.as_deref().map(Raw::trusted)
        }
        match self {
            Self::List(kind, cursor) => {
                Request::List { kind: *kind, cursor: cursor.as_deref().map(Into::into) }
            }
            Self::CallTool(name, arguments) => {
                let arguments = raw(arguments).map(Into::into);
                Request::CallTool { name: name.into(), arguments }
            }
            Self::ReadResource(uri) => Request::ReadResource { uri: uri.into() },
            Self::GetPrompt(name, arguments) => {
                Request::GetPrompt { name: name.into(), arguments: raw(arguments) }
            }
            Self::Complete { of_prompt, target, argument, value, given } => Request::Complete {
                reference: if *of_prompt {
                    Reference::Prompt(target.into())
                } else {
                    Reference::Resource(target.into())
                },
                argument: argument.into(),
                value: value.into(),
                given: raw(given),
            },
        }
    }
}
