//! Runs operations of clients and returns their outcomes. Nothing here depends on a protocol revision or does I/O.
//!
//! A handler that is ready at its first poll costs no task, no timer and no entry in any table.

#[cfg_attr(
    not(any(feature = "http", all(feature = "stdio", unix))),
    allow(dead_code, reason = "only reactors of our own are watched")
)]
mod activity;
mod around;
mod complete;
mod pending;
mod rights;
mod target;

use std::{borrow::Cow, cell::Cell, sync::Arc, time::Duration};

#[cfg(any(feature = "http", all(feature = "stdio", unix)))]
pub(crate) use activity::ReactorActivity;
#[cfg(feature = "http")]
pub(crate) use activity::Unresponsive;
pub(crate) use around::Around;
pub use around::{Next, OperationCall};
pub(crate) use pending::Pending;

use mcp_runtime_wire::{IndexedObject, JsonKind, Raw};

#[cfg(feature = "auth")]
use crate::auth::Rules;
use crate::{
    call::context::{Caller, Environment, LazyContext},
    call::extract::{ArgumentMember, Arguments, Call, Mode, Running},
    catalog::{Catalog, Entry, EntryKind, Snapshot},
    error::{Error, ErrorKind, shown},
    limits::Reservation,
    model::{
        BinaryData, Content, Done, ListKind, Operation, OperationResult, ResourceBody, ToolResult,
    },
    suggest::nearest,
    unwind,
};

/// Request for items, in the form that all protocol revisions share.
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

impl Request<'_> {
    /// Returns the item that the request is for, as far as it is known before a handler runs. Lists and completions have none.
    pub(crate) fn target<'s>(&self, snapshot: &'s Snapshot) -> Option<&'s Arc<Entry>> {
        match self {
            Self::CallTool { name, .. } => snapshot.find(ListKind::Tools, name),
            Self::GetPrompt { name, .. } => snapshot.find(ListKind::Prompts, name),
            Self::ReadResource { uri } => {
                snapshot.find(ListKind::Resources, uri).or_else(|| target::template(snapshot, uri))
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

/// Settings for running calls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settings {
    /// Timeout of items that set none of their own.
    pub(crate) timeout: Option<Duration>,
    /// Maximum size of the content of a tool result, in bytes.
    pub(crate) max_result: Option<usize>,
}

pub(crate) struct Dispatcher {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) environment: Arc<Environment>,
    pub(crate) around: Option<Around>,
    pub(crate) settings: Settings,
    /// Authorization rules of the server.
    #[cfg(feature = "auth")]
    pub(crate) rules: Rules,
}

/// Answer of an operation, or the work that will produce it.
pub(crate) enum Dispatched {
    Ready(OperationResult),
    Pending(Pending),
}

impl Dispatched {
    /// Holds the reservation until the call is done.
    pub(crate) fn holding(mut self, reservation: Reservation) -> Self {
        if let Self::Pending(pending) = &mut self
            && !reservation.is_empty()
        {
            pending.hold(reservation);
        }
        self
    }

    fn failed(kind: ErrorKind, message: impl std::fmt::Display) -> Self {
        Self::Ready(Err(Error::of(kind, message)))
    }
}

impl Dispatcher {
    pub(crate) fn dispatch(
        self: &Arc<Self>,
        snapshot: &Arc<Snapshot>,
        target: Option<&Arc<Entry>>,
        caller: Caller,
        request: Request<'_>,
    ) -> Dispatched {
        match &self.around {
            None => self.run(snapshot, target, caller, request),
            Some(around) => around.start(self, snapshot, caller, request),
        }
    }

    /// Runs the request without `around`. `target` is the item of the request, if the caller has looked it up already.
    fn run(
        &self,
        snapshot: &Arc<Snapshot>,
        target: Option<&Arc<Entry>>,
        caller: Caller,
        request: Request<'_>,
    ) -> Dispatched {
        match request {
            Request::List { kind, cursor } => {
                let page = self.page(snapshot, kind, cursor.as_deref(), &caller.carrier);
                Dispatched::Ready(page.map(Done::List))
            }
            Request::CallTool { name, arguments } => {
                self.call_tool(snapshot, target, caller, &name, arguments)
            }
            Request::ReadResource { uri } => self.read_resource(snapshot, caller, &uri),
            Request::GetPrompt { name, arguments } => {
                self.get_prompt(snapshot, target, caller, &name, arguments)
            }
            Request::Complete { reference, argument, value, given } => {
                self.complete(snapshot, caller, &reference, &argument, &value, given)
            }
        }
    }

    fn call_tool(
        &self,
        snapshot: &Snapshot,
        target: Option<&Arc<Entry>>,
        caller: Caller,
        name: &str,
        arguments: Option<IndexedObject<'_>>,
    ) -> Dispatched {
        let found = target.or_else(|| snapshot.find(ListKind::Tools, name));
        let Some(entry) = found else {
            return Dispatched::failed(
                ErrorKind::InvalidParams,
                unknown("tool", name, self.seen(snapshot, ListKind::Tools, &caller.carrier)),
            );
        };
        let EntryKind::Tool(tool) = &entry.kind else {
            unreachable!("the list of tools holds tools")
        };
        let arguments = arguments.unwrap_or(Raw::EMPTY_OBJECT.into());
        if arguments.whole.kind() != JsonKind::Object {
            return Dispatched::failed(ErrorKind::InvalidParams, "`arguments` must be an object");
        }
        let mode = Mode::Tool { name: &entry.name, strict: tool.strict, lenient: tool.lenient };
        self.start(entry, mode, Arguments::json(arguments), caller, None)
    }

    fn get_prompt(
        &self,
        snapshot: &Snapshot,
        target: Option<&Arc<Entry>>,
        caller: Caller,
        name: &str,
        arguments: Option<Raw<'_>>,
    ) -> Dispatched {
        let found = target.or_else(|| snapshot.find(ListKind::Prompts, name));
        let Some(entry) = found else {
            return Dispatched::failed(
                ErrorKind::InvalidParams,
                unknown("prompt", name, self.seen(snapshot, ListKind::Prompts, &caller.carrier)),
            );
        };
        let members = match texts(arguments) {
            Ok(members) => members,
            Err(error) => return Dispatched::Ready(Err(error)),
        };
        let mode = Mode::Prompt { name: &entry.name };
        self.start(entry, mode, Arguments::Text(members), caller, None)
    }

    fn read_resource(&self, snapshot: &Snapshot, caller: Caller, uri: &str) -> Dispatched {
        let misfit = Cell::new(false);
        let mode = Mode::Resource { uri, misfit: &misfit };
        if let Some(entry) = snapshot.find(ListKind::Resources, uri) {
            return self.start(entry, mode, Arguments::Text(Vec::new()), caller, Some(uri));
        }
        for (entry, members) in target::matching(snapshot, uri) {
            let arguments = Arguments::Text(members);
            let dispatched = self.start(entry, mode, arguments, caller.clone(), Some(uri));
            if !misfit.take() {
                return dispatched;
            }
        }
        Dispatched::Ready(Err(Error::no_resource(uri)))
    }

    /// Runs the handler up to its first wait.
    fn start(
        &self,
        entry: &Arc<Entry>,
        mode: Mode<'_>,
        arguments: Arguments<'_>,
        mut caller: Caller,
        uri: Option<&str>,
    ) -> Dispatched {
        if !entry.needs_meta {
            caller.meta = None;
        }
        caller.origin = entry.origin;
        let wants_log = caller.log_level.is_some();
        let context = LazyContext::new(&self.environment, caller, uri);
        let call = Call::new(mode, arguments, &entry.names, &context);
        let running = {
            let _scope = wants_log.then(|| crate::call::context::enter(context.get()));
            let _watch = pending::Watch::start(entry);
            let _entered = activity::Entered::new(entry);
            unwind::catch(|| entry.handler.run(call))
        };
        if let Ok(Running::Pending(future)) = running {
            let timeout = entry.timeout.or(self.settings.timeout);
            let (entry, context) = (entry.clone(), context.get().clone());
            let pending = Pending::new(future, entry, context, timeout, self.settings);
            return Dispatched::Pending(pending);
        }
        if let Some(context) = context.made() {
            context.close();
        }
        Dispatched::Ready(match running {
            Ok(Running::Ready(answer)) => {
                finish(&self.settings, entry, context.is_resumed(), uri, answer)
            }
            _ => panicked(entry),
        })
    }
}

/// Finishes the answer of a handler. A tool result that is too large is replaced, and the failure of a tool becomes a tool result. Cache
/// hints, media types and descriptions come from the declaration of the item.
fn finish(
    settings: &Settings,
    entry: &Entry,
    is_resumed: bool,
    uri: Option<&str>,
    answer: OperationResult,
) -> OperationResult {
    match answer {
        Ok(Done::Tool(result)) => Ok(Done::Tool(limit(settings, result))),
        // The model is told of every failure, whether the handler itself failed or something that it needs.
        Err(error) if error.kind() == ErrorKind::Failed && entry.tool().is_some() => {
            Ok(Done::Tool(limit(settings, ToolResult::failure(error.message()))))
        }
        Ok(Done::Read(mut read)) => {
            let resource = entry.resource();
            read.cache = resource.and_then(|it| it.cache).filter(|_| !is_resumed);
            if let Some(cache) = read.cache.as_mut().filter(|_| entry.is_guarded()) {
                cache.public = false;
            }
            // Contents without a media type get that of the resource, if the resource declares one.
            let declared = resource.and_then(|it| it.mime_type.as_deref());
            for it in &mut read.contents {
                if it.mime_type.is_none() {
                    it.mime_type = Some(declared.unwrap_or(it.usual).to_owned());
                }
            }
            Ok(Done::Read(read))
        }
        Ok(Done::Prompt(mut prompt)) => {
            prompt.description = entry.description.as_deref().map(str::to_owned);
            Ok(Done::Prompt(prompt))
        }
        Err(error) if error.kind() == ErrorKind::ResourceNotFound => Err(match uri {
            Some(uri) => error.with_uri(uri),
            None => error,
        }),
        other => other,
    }
}

/// Replaces a result that is too large with an error that tells the model what to do. A truncated text would look complete.
fn limit(settings: &Settings, result: ToolResult) -> ToolResult {
    let Some(max) = settings.max_result else { return result };
    let size: usize = result.content.iter().map(content_size).sum();
    if size <= max {
        return result;
    }
    ToolResult::failure(format!(
        "the result has {size} bytes, and this server sends at most {max}: ask for less of it"
    ))
}

fn content_size(content: &Content) -> usize {
    let data = |it: &BinaryData| match it {
        BinaryData::Bytes(it) => it.len(),
        BinaryData::Base64(it) => it.len(),
    };
    match content {
        Content::Text(it) => it.text.len(),
        Content::Image(it) => data(&it.data),
        Content::Audio(it) => data(&it.data),
        Content::ResourceLink(it) => it.uri.len(),
        Content::Embedded(it) => match &it.contents.body {
            ResourceBody::Text(it) => it.len(),
            ResourceBody::Blob(it) => data(it),
        },
    }
}

/// Answers for a handler that panicked. The message of the panic has gone to stderr with its location; the client does not need it.
#[cold]
fn panicked(entry: &Entry) -> OperationResult {
    let text = format!("the {} `{}` panicked", entry.kind_name(), entry.name);
    match entry.kind {
        EntryKind::Tool(_) => Ok(Done::Tool(ToolResult::failure(text))),
        _ => Err(Error::internal(text)),
    }
}

/// Reads arguments that are strings on the wire. A number or bool that the client did not quote counts as its text.
fn texts<'a>(arguments: Option<Raw<'a>>) -> Result<Vec<ArgumentMember<'a, Cow<'a, str>>>, Error> {
    let arguments = arguments.unwrap_or(Raw::EMPTY_OBJECT);
    if arguments.kind() != JsonKind::Object {
        return Err(Error::of(ErrorKind::InvalidParams, "`arguments` must be an object"));
    }
    let mut members = Vec::new();
    for (name, value) in arguments.members() {
        let value = match value.kind() {
            JsonKind::String => value.string().unwrap_or_default(),
            JsonKind::Null => continue,
            JsonKind::Bool | JsonKind::Number => Cow::Borrowed(value.as_str()),
            JsonKind::Array | JsonKind::Object => {
                return Err(Error::of(
                    ErrorKind::InvalidParams,
                    format_args!("argument `{}` must be a string", shown(&name)),
                ));
            }
        };
        members.push(ArgumentMember::new(name, value));
    }
    Ok(members)
}

#[cold]
fn unknown<'a>(what: &str, name: &str, seen: impl Iterator<Item = &'a Arc<Entry>>) -> String {
    let name = shown(name);
    match nearest(name, seen.map(|it| &*it.name)) {
        Some(near) => format!("unknown {what} `{name}`; did you mean `{near}`?"),
        None => format!("unknown {what} `{name}`"),
    }
}
