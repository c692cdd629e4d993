//! Runs operations. If the author has passed a closure to `Builder::around`, this closure wraps each operation.

use std::{borrow::Cow, cell::Cell, fmt, future::Future, sync::Arc};

use mcp_runtime_contract::suggest::nearest;
use mcp_runtime_wire::{IndexedObject, JsonKind, Raw};

use super::{
    activity::Entered,
    answer::{CallSettings, around_panic_error, finish_answer, panic_answer},
    pending::{Dispatched, PendingHandler, SlowPollWarning},
    request::{OwnedRequest, Reference, Request, matching_templates},
    rights::ItemRights,
};

use crate::{
    call::context::{Caller, Context, Environment, LazyContext},
    call::extract::{ArgumentMember, Arguments, Call, Mode, Running},
    catalog::{Catalog, Entry, EntryKind, Snapshot},
    error::{Error, ErrorKind, shown},
    item::Completer,
    model::{Completion, Done, ListKind, Operation, OperationResult, Outcome},
    unwind::{self, Panicked},
};
use futures_core::future::BoxFuture;

/// Runs operations on the items of a server.
pub(crate) struct Dispatcher {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) environment: Arc<Environment>,
    pub(crate) around: Option<Around>,
    pub(crate) settings: CallSettings,
    pub(crate) rights: ItemRights,
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

    /// Runs the request without the closure passed to `Builder::around`. `target` is the item of the request, if the caller has looked it
    /// up already.
    fn run(
        &self,
        snapshot: &Arc<Snapshot>,
        target: Option<&Arc<Entry>>,
        caller: Caller,
        request: Request<'_>,
    ) -> Dispatched {
        match request {
            Request::List { kind, cursor } => {
                let page = self.rights.page(snapshot, kind, cursor.as_deref(), &caller.carrier);
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
                unknown_item(
                    "tool",
                    name,
                    self.rights.seen(snapshot, ListKind::Tools, &caller.carrier),
                ),
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
                unknown_item(
                    "prompt",
                    name,
                    self.rights.seen(snapshot, ListKind::Prompts, &caller.carrier),
                ),
            );
        };
        let members = match text_arguments(arguments) {
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
        for (entry, members) in matching_templates(snapshot, uri) {
            let arguments = Arguments::Text(members);
            let dispatched = self.start(entry, mode, arguments, caller.clone(), Some(uri));
            if !misfit.take() {
                return dispatched;
            }
        }
        Dispatched::Ready(Err(Error::no_resource(uri)))
    }

    /// Starts the handler. Returns its answer, or its future if the handler has to wait.
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
            let _entered = Entered::new(entry);
            unwind::catch(|| {
                let _watch = SlowPollWarning::start(entry);
                entry.handler.run(call)
            })
        };
        if let Ok(Running::Pending(future)) = running {
            let timeout = entry.timeout.or(self.settings.timeout);
            let (entry, context) = (entry.clone(), context.get().clone());
            let pending = PendingHandler::new(future, entry, context, timeout, self.settings);
            return Dispatched::Pending(pending);
        }
        if let Some(context) = context.made() {
            context.close();
        }
        Dispatched::Ready(match running {
            Ok(Running::Ready(answer)) => {
                finish_answer(&self.settings, entry, context.is_resumed(), uri, answer)
            }
            _ => panic_answer(entry),
        })
    }

    fn complete(
        &self,
        snapshot: &Snapshot,
        caller: Caller,
        reference: &Reference<'_>,
        argument: &str,
        typed: &str,
        given: Option<Raw<'_>>,
    ) -> Dispatched {
        let entry = match reference.find(snapshot) {
            Ok(entry) => entry,
            Err(error) => return Dispatched::Ready(Err(error)),
        };
        let Some(argument) = entry.arguments().iter().find(|known| known.name == argument) else {
            return Dispatched::failed(ErrorKind::InvalidParams, unknown_argument(entry, argument));
        };
        let values: Vec<String> = match argument.completer {
            Some(Completer::Function(identity)) => {
                return match snapshot.completion(identity()) {
                    Some(function) => self.run_completion(function, caller, typed, given),
                    None => Dispatched::Ready(Err(Error::internal(
                        "the completion function is not registered",
                    ))),
                };
            }
            Some(Completer::Values(values)) => {
                values.iter().map(|value| (*value).to_owned()).collect()
            }
            None => (argument.values)().into_iter().map(str::to_owned).collect(),
        };
        Dispatched::Ready(Ok(Done::Completion(matching_values(values, typed))))
    }

    fn run_completion(
        &self,
        function: &Arc<Entry>,
        caller: Caller,
        typed: &str,
        given: Option<Raw<'_>>,
    ) -> Dispatched {
        let given = match text_arguments(given) {
            Ok(given) => given,
            Err(error) => return Dispatched::Ready(Err(error)),
        };
        let mode = Mode::Completion { text: typed };
        let filters = matches!(function.kind, EntryKind::Completion { takes_typed_text: true });
        match self.start(function, mode, Arguments::Text(given), caller, None) {
            Dispatched::Ready(answer) => {
                Dispatched::Ready(filter_completion(answer, filters, typed))
            }
            Dispatched::Pending(pending) => {
                let context = pending.context().clone();
                let typed = typed.to_owned();
                let future = Box::pin(async move {
                    let answer = pending.await.unwrap_or_else(|| Err(Error::msg("cancelled")));
                    filter_completion(answer, filters, &typed)
                });
                Dispatched::Pending(PendingHandler::bare(future, context, self.settings))
            }
        }
    }
}

/// Reads arguments that the protocol defines as strings. A number or a boolean that the client did not quote counts as text, and `null`
/// counts as absent.
fn text_arguments<'a>(
    arguments: Option<Raw<'a>>,
) -> Result<Vec<ArgumentMember<'a, Cow<'a, str>>>, Error> {
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
fn unknown_item<'a>(what: &str, name: &str, seen: impl Iterator<Item = &'a Arc<Entry>>) -> String {
    let name = shown(name);
    match nearest(name, seen.map(|entry| &*entry.name)) {
        Some(near) => format!("unknown {what} `{name}`; did you mean `{near}`?"),
        None => format!("unknown {what} `{name}`"),
    }
}

#[cold]
fn unknown_argument(entry: &Entry, name: &str) -> String {
    let name = shown(name);
    let text = format!("`{}` has no argument `{name}`", entry.name);
    match nearest(name, entry.arguments().iter().map(|known| &*known.name)) {
        Some(near) => format!("{text}; did you mean `{near}`?"),
        None => text,
    }
}

/// Keeps only those values of a completion function that match the typed text. Leaves the values unchanged if the function has already
/// filtered them. That is the case if `already` is true, which means that the function takes the typed text, or if the function returns a
/// total.
fn filter_completion(answer: OperationResult, already: bool, typed: &str) -> OperationResult {
    match answer {
        Ok(Done::Completion(found)) if !already && found.total.is_none() => {
            Ok(Done::Completion(matching_values(found.values, typed)))
        }
        other => other,
    }
}

/// Returns the values that begin with the typed text, followed by the other values that contain it. Case is ignored.
fn matching_values(values: Vec<String>, typed: &str) -> Completion {
    let typed = typed.to_lowercase();
    let (mut first, mut then) = (Vec::new(), Vec::new());
    for value in values {
        match value.to_lowercase().find(&typed) {
            Some(0) => first.push(value),
            Some(_) => then.push(value),
            None => {}
        }
    }
    first.append(&mut then);
    Completion { values: first, total: None }
}

type OutcomeFuture = BoxFuture<'static, Outcome>;

/// Closure passed to `Builder::around`, which wraps every operation.
#[derive(Clone)]
pub(crate) struct Around(Arc<dyn Fn(OperationCall, Next) -> OutcomeFuture + Send + Sync>);

/// Requested operation with its context, as [`Builder::around`](crate::Builder::around) passes it to the closure.
///
/// ```
/// use mcp_runtime::middleware::{Next, OperationCall, Outcome};
///
/// /// Logs the duration of an operation.
/// async fn timed(call: OperationCall, next: Next) -> Outcome {
///     let method = call.operation().method();
///     let start = std::time::Instant::now();
///     let outcome = next.run(call).await;
///     eprintln!("{method} took {:?}", start.elapsed());
///     outcome
/// }
///
/// let server = mcp_runtime::server!().around(timed);
/// ```
#[derive(Debug)]
pub struct OperationCall {
    operation: Operation,
    context: Context,
}

impl OperationCall {
    /// Returns the requested operation.
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// Returns the context of the operation: its caller and the server's state.
    pub fn context(&self) -> &Context {
        &self.context
    }
}

/// Rest of an operation, which the closure passed to [`Builder::around`](crate::Builder::around) runs or rejects.
///
/// Call [`run`](Self::run) to get the outcome, or reject the operation with [`Outcome::failed`] instead.
///
/// ```
/// use mcp_runtime::{
///     Error,
///     middleware::{Next, Operation, OperationCall, Outcome},
/// };
///
/// /// Rejects calls of the tool `delete`, and runs every other operation.
/// async fn read_only(call: OperationCall, next: Next) -> Outcome {
///     let is_delete =
///         matches!(call.operation(), Operation::CallTool(name) if name == "delete");
///     if is_delete {
///         Outcome::failed(Error::msg("this server is read-only"))
///     } else {
///         next.run(call).await
///     }
/// }
///
/// let server = mcp_runtime::server!().around(read_only);
/// ```
pub struct Next {
    dispatcher: Arc<Dispatcher>,
    snapshot: Arc<Snapshot>,
    caller: Caller,
    request: OwnedRequest,
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Next")
    }
}

impl Next {
    /// Runs the operation and returns its outcome.
    ///
    /// # Cancel safety
    /// Not cancel safe. Dropping the future before it has finished cancels the operation.
    pub async fn run(self, call: OperationCall) -> Outcome {
        drop(call);
        match self.dispatcher.run(&self.snapshot, None, self.caller, self.request.borrow()) {
            Dispatched::Ready(answer) => Outcome(answer),
            Dispatched::Pending(pending) => {
                Outcome(pending.await.unwrap_or_else(|| Err(Error::msg("cancelled"))))
            }
        }
    }
}

impl Around {
    pub(crate) fn new<F, R>(around: F) -> Self
    where
        F: Fn(OperationCall, Next) -> R + Send + Sync + 'static,
        R: Future<Output = Outcome> + Send + 'static,
    {
        Self(Arc::new(move |call, next| Box::pin(around(call, next))))
    }

    /// Calls the closure passed to `Builder::around` with a [`Next`] that runs the request.
    fn start(
        &self,
        dispatcher: &Arc<Dispatcher>,
        snapshot: &Arc<Snapshot>,
        caller: Caller,
        request: Request<'_>,
    ) -> Dispatched {
        let context = Context::new(dispatcher.environment.clone(), caller.clone(), None);
        let call = OperationCall { operation: request.operation(), context: context.clone() };
        let next = Next {
            dispatcher: dispatcher.clone(),
            snapshot: snapshot.clone(),
            caller: Caller { outer: Some(context.clone()), ..caller },
            request: OwnedRequest::from(request),
        };
        let started = {
            let _scope = crate::call::context::enter(&context);
            unwind::catch(|| (self.0)(call, next))
        };
        match started {
            Ok(outcome) => Dispatched::Pending(PendingHandler::bare(
                Box::pin(async move { outcome.await.0 }),
                context,
                dispatcher.settings,
            )),
            Err(Panicked) => Dispatched::Ready(Err(around_panic_error())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matching_values;

    #[test]
    fn prefixes_come_before_other_matches() {
        let values = ["Malta", "Guatemala", "mali", "Oslo"].map(str::to_owned).to_vec();
        assert_eq!(matching_values(values.clone(), "mal").values, ["Malta", "mali", "Guatemala"]);
        assert_eq!(matching_values(values, "").values.len(), 4);
    }
}
