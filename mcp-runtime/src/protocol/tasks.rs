//! Tasks: calls that continue after their response, in two dialects (rule C-18). In the newest legacy revision the client decides which
//! calls become tasks, and waits for the result. In the extension of the modern era the server decides, and the client polls.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context as Poller, Poll, Waker},
    time::Duration,
};

use futures_core::future::BoxFuture;
use mcp_runtime_wire::{Id, JsonKind, Raw};

use super::{
    admission::admit,
    call::{CallChannel, Received, RefusalStatus, RefusedRequest, ReplyTo, ResponseSink, drive},
    encode::AnswerScope,
    questions::Questioner,
    request::{ClientRequest, string, unknown_method},
    revision::{Revision, TaskDialect},
    service::{Feature, TASKS_EXTENSION},
    session::Terms,
    state::PeerState,
};
use crate::{
    call::context::{AnswerFuture, Asker as _, Caller, Channel, Context},
    catalog::{Entry, Snapshot},
    dispatch::{Dispatched, PendingHandler, Request},
    error::{Error, ErrorKind},
    model::{ClientInfo, Done, OperationResult, TaskAnswer, TaskEnd, TaskState, TaskView},
    task::{LiveTask, NewTask, TaskAnswers, TaskRoute, TaskWait, TaskWaiter, Viewer},
};

/// Opens a task for a call that may become one. Returns `None` for a call that can only be an ordinary call.
///
/// # Errors
/// Fails if the tool runs only as a task, but the client does not support or request tasks, or if the client requests a task from a tool
/// without tasks. Also fails if the parameters are invalid, or if a limit on tasks is reached.
#[inline]
pub(super) fn open(
    state: &PeerState,
    entry: Option<&Arc<Entry>>,
    snapshot: &Snapshot,
    terms: &Terms,
    request: &ClientRequest<'_>,
    operation: &Request<'_>,
) -> Result<Option<Arc<LiveTask>>, RefusedRequest> {
    let Request::CallTool { arguments, .. } = operation else { return Ok(None) };
    let Some(entry) = entry else { return Ok(None) };
    let dialect = terms.revision.features().tasks;
    // If no tool has tasks, the parameter is ignored like any unknown parameter (rule TASK4-01).
    let asked = if dialect == TaskDialect::Core && Feature::Tasks.is_served(snapshot) {
        request.params.get("task").filter(|task| !task.is_null())
    } else {
        None
    };
    let refused = |text: String| RefusedRequest::from(Error::of(ErrorKind::MethodNotFound, text));
    let Some(mut support) = entry.task() else {
        return match asked {
            None => Ok(None),
            Some(_) => Err(refused(format!("the tool `{}` has no tasks", entry.name))),
        };
    };
    let mut ttl = None;
    match dialect {
        TaskDialect::None | TaskDialect::Core if asked.is_none() => {
            if !support.required {
                return Ok(None);
            }
            let needed = if dialect == TaskDialect::Core {
                "call it with `task`"
            } else {
                "the client's revision of the protocol has none"
            };
            let name = &entry.name;
            return Err(refused(format!("the tool `{name}` runs as a task only: {needed}")));
        }
        TaskDialect::Extension => {
            if support.required {
                demand_extension(&terms.client, format_args!("the tool `{}`", entry.name))
                    .map_err(|error| RefusalStatus::Malformed.because(error))?;
            } else if !terms.client.has_extension(TASKS_EXTENSION) {
                return Ok(None);
            }
            // A request with answers or state continues a call that began without a task. It stays without one, unless its handler begins the
            // task or the tool requires one.
            let [answers, request_state] = request.params.pick(["inputResponses", "requestState"]);
            if (answers.is_some() || request_state.is_some()) && !support.later && !support.required
            {
                return Ok(None);
            }
        }
        TaskDialect::None | TaskDialect::Core => {
            ttl = asked.map(read_ttl).transpose()?.flatten();
            // In the older dialect the call is a task from the beginning, so the handler cannot turn it into a task later.
            support.later = false;
        }
    }
    let new = NewTask {
        entry,
        support,
        arguments: arguments.map_or(Raw::EMPTY_OBJECT, |arguments| arguments.whole).as_str(),
        client: terms.client.clone(),
        carrier: request.carrier,
        tenant: state.tenant(request.carrier, terms.revision),
        ttl,
    };
    let opened = state.service.tasks.open(new);
    opened.map(Some).map_err(|error| {
        let refusal = (error.kind() == ErrorKind::Failed).then_some(RefusalStatus::Busy);
        RefusedRequest { refusal, error }
    })
}

/// Makes the call send its questions, reports and log messages through its task.
pub(super) fn route_through(
    state: &PeerState,
    live: &Arc<LiveTask>,
    mut caller: Caller,
    terms: &Terms,
    request: &ClientRequest<'_>,
) -> Caller {
    let mut route = TaskRoute::new(live.clone());
    route.asker = caller.asker.take();
    if terms.revision.features().tasks == TaskDialect::Core {
        route.task_channel = session_channel(state, live, &caller, terms, request);
    } else if live.begins_later() {
        route.channel = caller.channel.take();
    }
    route.attach_to(caller)
}

/// Returns the channel of a task in a session. The stream of the call ends with the response that creates the task, so reports go to the
/// outbox of the session (rule PROG-05).
fn session_channel(
    state: &PeerState,
    live: &LiveTask,
    caller: &Caller,
    terms: &Terms,
    request: &ClientRequest<'_>,
) -> Option<Arc<dyn Channel>> {
    let token = request.meta.progress_token.filter(|token| Id::parse(*token).is_some());
    if token.is_none() && caller.log_level.is_none() {
        return None;
    }
    let outbox = state.outbox.clone();
    let channel = CallChannel::new(outbox, terms.revision, token.map(Raw::as_str), false);
    Some(Arc::new(channel.of_task(live.id().clone())))
}

/// Reads the time for which the client wants its task to be kept.
fn read_ttl(asked: Raw<'_>) -> Result<Option<Duration>, Error> {
    if asked.kind() != JsonKind::Object {
        return Err(Error::invalid_params("`task` must be an object"));
    }
    let Some(ttl) = asked.get("ttl").filter(|ttl| !ttl.is_null()) else { return Ok(None) };
    let millis = ttl.u64().ok_or_else(|| {
        Error::invalid_params("`task.ttl` must be a whole number of milliseconds")
    })?;
    Ok(Some(Duration::from_millis(millis)))
}

/// Method that concerns tasks. `Result` and `List` belong to the older dialect, `Update` to the newer one.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum TaskMethod {
    Get,
    Update,
    Cancel,
    Result,
    List,
}

impl TaskMethod {
    /// Returns the method of this name, if the revision has it (rule TASK5-09).
    pub(super) fn parse(name: &str, revision: Revision) -> Option<Self> {
        let dialect = revision.features().tasks;
        let (method, only) = match name {
            "tasks/get" => (Self::Get, None),
            "tasks/cancel" => (Self::Cancel, None),
            "tasks/update" => (Self::Update, Some(TaskDialect::Extension)),
            "tasks/result" => (Self::Result, Some(TaskDialect::Core)),
            "tasks/list" => (Self::List, Some(TaskDialect::Core)),
            _ => return None,
        };
        let has = dialect != TaskDialect::None && only.is_none_or(|only| only == dialect);
        has.then_some(method)
    }
}

/// Checks that the client has declared the tasks extension. `what` names the tool, method or parameter that needs the extension, for the
/// error message.
///
/// # Errors
/// Fails if the client has not declared the extension.
pub(super) fn demand_extension(
    client: &ClientInfo,
    what: impl std::fmt::Display,
) -> Result<(), Error> {
    if client.has_extension(TASKS_EXTENSION) {
        return Ok(());
    }
    let text = format!("{what} needs a client with the extension `{TASKS_EXTENSION}`");
    let data =
        format!(r#"{{"requiredCapabilities":{{"extensions":{{"{TASKS_EXTENSION}":{{}}}}}}}}"#);
    Err(Error::of(ErrorKind::MissingCapability, text).with_json(data))
}

pub(super) fn answer_request(
    state: &Arc<PeerState>,
    method: TaskMethod,
    terms: &Terms,
    request: &ClientRequest<'_>,
    received: &mut Received,
) {
    let revision = terms.revision;
    let snapshot = state.snapshot();
    let has_tasks = Feature::Tasks.is_served(&snapshot) || state.service.tasks.has_kept();
    let is_served = has_tasks && (method != TaskMethod::List || request.carrier.is_identified());
    if !is_served {
        let refused = RefusalStatus::UnknownMethod.because(unknown_method(request.method));
        return request.reject(revision, refused, received);
    }
    if revision.features().tasks == TaskDialect::Extension
        && let Err(error) = demand_extension(&terms.client, format_args!("`{}`", request.method))
    {
        return request.reject(revision, RefusalStatus::Malformed.because(error), received);
    }
    let viewer = viewer(state, &snapshot, request);
    let work = match task_work(state, method, terms, request, viewer) {
        Ok(work) => work,
        Err(error) => return request.refuse(revision, &error),
    };
    if let Err(refused) = admit(state, request, revision) {
        return request.reject(revision, refused, received);
    }
    let dispatcher = &state.service.dispatcher;
    let context = Context::new(dispatcher.environment.clone(), Caller::default(), None);
    let pending = PendingHandler::bare(work, context, dispatcher.settings);
    let scope = AnswerScope { revision, is_private: true };
    let sink = ResponseSink { state, snapshot: &snapshot, scope, slot: None, to: request.to };
    drive(Dispatched::Pending(pending), request.id, request.carrier, sink, received);
}

/// Returns the viewer of this request, which decides which tasks the caller can see.
pub(super) fn viewer(
    state: &PeerState,
    snapshot: &Snapshot,
    request: &ClientRequest<'_>,
) -> Viewer {
    let judged = state.service.dispatcher.rights.judged(snapshot, request.carrier);
    Viewer::of(request.carrier.principal(), judged)
}

fn task_work(
    state: &Arc<PeerState>,
    method: TaskMethod,
    terms: &Terms,
    request: &ClientRequest<'_>,
    viewer: Viewer,
) -> Result<TaskWork, Error> {
    let tasks = state.service.tasks.clone();
    if method == TaskMethod::List {
        let cursor = request.params.get("cursor").filter(|cursor| !cursor.is_null());
        let cursor = match cursor {
            None => None,
            Some(cursor) => {
                let text = cursor
                    .string()
                    .ok_or_else(|| Error::invalid_params("`cursor` must be a string"))?;
                Some(text.into_owned())
            }
        };
        return Ok(Box::pin(async move {
            let (tasks, next) = tasks.list(&viewer, cursor.as_deref()).await?;
            Ok(Done::Task(TaskAnswer::Listed { tasks, next }))
        }));
    }
    let id: Box<str> = string(request.params.get("taskId"), "taskId")?.into();
    Ok(match method {
        TaskMethod::Get => {
            Box::pin(
                async move { Ok(Done::Task(TaskAnswer::Got(tasks.view(&id, &viewer).await?))) },
            )
        }
        TaskMethod::Update => {
            let answers = answers(request.params.get("inputResponses"))?;
            Box::pin(async move {
                tasks.update(&id, &viewer, answers).await?;
                Ok(Done::Task(TaskAnswer::Acknowledged))
            })
        }
        TaskMethod::Cancel if terms.revision.is_modern() => Box::pin(async move {
            tasks.cancel(&id, &viewer).await?;
            Ok(Done::Task(TaskAnswer::Acknowledged))
        }),
        TaskMethod::Cancel => Box::pin(async move {
            let (view, had_ended) = tasks.cancel(&id, &viewer).await?;
            if had_ended {
                let text = format!("the task has ended already: {}", ending(&view));
                return Err(Error::invalid_params(text));
            }
            if !matches!(view.state, TaskState::Ended(_)) {
                // The specification requires the task to be cancelled before this request is answered (rule TASK4-11).
                let text = if tasks.is_shared() {
                    "the server that runs the task has not cancelled it in time: try again"
                } else {
                    "the task runs in another process, so it cannot be cancelled here"
                };
                return Err(Error::msg(text));
            }
            Ok(Done::Task(TaskAnswer::Got(view)))
        }),
        TaskMethod::Result | TaskMethod::List => {
            let (state, to) = (state.clone(), request.to.clone());
            let request = ResultRequest { state, to, terms: terms.clone(), id, viewer };
            Box::pin(request.result())
        }
    })
}

type TaskWork = BoxFuture<'static, OperationResult>;

/// Parses the `inputResponses` of a `tasks/update` request: the answers as JSON texts, by the keys of their questions.
fn answers(responses: Option<Raw<'_>>) -> Result<TaskAnswers, Error> {
    let responses = responses.filter(|responses| responses.kind() == JsonKind::Object);
    let responses =
        responses.ok_or_else(|| Error::invalid_params("`inputResponses` must be an object"))?;
    Ok(responses.members().map(|(key, json)| (key.into(), json.as_str().into())).collect())
}

fn ending(view: &TaskView) -> &'static str {
    let TaskState::Ended(end) = &view.state else { return "it runs" };
    match &**end {
        TaskEnd::Result(result) if !result.is_error => "it is completed",
        TaskEnd::Result(_) | TaskEnd::Error(_) => "it has failed",
        TaskEnd::Cancelled => "it was cancelled",
    }
}

/// Request that waits for the end of a task in the older dialect. While it waits, the server sends the questions of the task on the stream
/// of this request (rule TASK4-08).
struct ResultRequest {
    state: Arc<PeerState>,
    to: ReplyTo,
    terms: Terms,
    id: Box<str>,
    viewer: Viewer,
}

impl ResultRequest {
    /// Waits until the task has ended, and returns the result that its call would have had.
    async fn result(self) -> OperationResult {
        let tasks = self.state.service.tasks.clone();
        loop {
            let ended = match tasks.wait(&self.id, &self.viewer, &self.terms.client).await? {
                TaskWait::Ended(view) => Some(view),
                TaskWait::Waiting(waiter) => self.answer_questions(&waiter).await,
            };
            if let Some(view) = ended {
                return Ok(Done::Task(TaskAnswer::Result(view)));
            }
        }
    }

    /// Sends the questions of the task to the client until the task has ended. Returns the end, or `None` if the task has to be looked up
    /// again, because another node may run it or may have ended it.
    async fn answer_questions(&self, waiter: &TaskWaiter) -> Option<TaskView> {
        let mut asked = TaskQuestions { waiter, asking: Vec::new() };
        let mut over = std::pin::pin!(waiter.over());
        let id: Arc<str> = (&*self.id).into();
        loop {
            while let Some((key, question)) = waiter.claim() {
                let questioner = Questioner::new(self.state.clone(), &self.to, self.terms.clone());
                let asking = questioner.of_task(id.clone()).ask(&key, question);
                asked.asking.push((key, asking));
            }
            let mut more = std::pin::pin!(waiter.more());
            let found = poll_fn(|cx| {
                asked.poll(cx, true);
                if let Poll::Ready(ended) = over.as_mut().poll(cx) {
                    return Poll::Ready(Some(ended));
                }
                more.as_mut().poll(cx).map(|()| None)
            })
            .await;
            if let Some(ended) = found {
                return ended;
            }
        }
    }
}

/// Questions sent to the client of a waiting request.
struct TaskQuestions<'a> {
    waiter: &'a TaskWaiter,
    asking: Vec<(Box<str>, AnswerFuture)>,
}

impl TaskQuestions<'_> {
    /// Passes the answers that have arrived to the task. An answer counts even if another waiter has become responsible for the question,
    /// because the user has already given the answer. An error counts only if this waiter is still waiting and responsible for the
    /// question.
    fn poll(&mut self, cx: &mut Poller<'_>, waits: bool) {
        let Self { waiter, asking } = self;
        asking.retain_mut(|(key, asking)| match asking.as_mut().poll(cx) {
            Poll::Ready(answer) => {
                if answer.is_ok() || (waits && waiter.holds(key)) {
                    waiter.answer(key, answer);
                }
                false
            }
            Poll::Pending => true,
        });
        // Drops questions that have been withdrawn, or for which another waiter has become responsible. Dropping a question sends a
        // cancellation to the client.
        asking.retain(|(key, _)| waiter.holds(key));
    }
}

impl Drop for TaskQuestions<'_> {
    /// Passes on an answer that arrived just before the client stopped waiting.
    fn drop(&mut self) {
        self.poll(&mut Poller::from_waker(Waker::noop()), false);
    }
}
