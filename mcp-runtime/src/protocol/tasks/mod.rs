//! Tasks: calls that continue after their response, in two dialects (rule C-18). In the newest legacy revision the client decides which
//! calls become tasks, and waits for the result. In the extension of the modern era the server decides, and the client polls.

mod start;
mod wait;

use std::sync::Arc;

use super::{
    call::ResponseSink,
    encode::AnswerScope,
    method::{invalid, string},
    peer::Peer,
    request::{ClientRequest, Terms, unknown_method},
    revision::{Revision, TaskDialect},
    service::{Feature, TASKS_EXTENSION},
    turn::{Received, RefusalStatus},
};
use crate::{
    call::context::{Caller, Context},
    catalog::Snapshot,
    dispatch::{Dispatched, Pending},
    error::{Error, Kind},
    model::{Answer, ClientInfo, Done, TaskAnswer, TaskEnd, TaskState, TaskView},
    task::{TaskAnswers, Viewer},
    wire::{Kind as JsonKind, Raw},
};

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
        let has = dialect != TaskDialect::None && only.is_none_or(|it| it == dialect);
        has.then_some(method)
    }
}

/// Checks that the client has the tasks extension, which `what` needs.
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
    Err(Error::of(Kind::MissingCapability, text).with_json(data))
}

impl Peer {
    pub(super) fn task_request(
        &self,
        method: TaskMethod,
        terms: &Terms,
        request: &ClientRequest<'_>,
        received: &mut Received,
    ) {
        let state = &self.state;
        let revision = terms.revision;
        let snapshot = state.snapshot();
        let has_tasks = Feature::Tasks.is_served(&snapshot) || state.service.tasks.has_kept();
        let is_served =
            has_tasks && (method != TaskMethod::List || request.carrier.is_identified());
        if !is_served {
            let refused = RefusalStatus::UnknownMethod.because(unknown_method(request.method));
            return self.reject(request, revision, refused, received);
        }
        if revision.features().tasks == TaskDialect::Extension
            && let Err(error) =
                demand_extension(&terms.client, format_args!("`{}`", request.method))
        {
            return self.reject(
                request,
                revision,
                RefusalStatus::Malformed.because(error),
                received,
            );
        }
        let viewer = self.viewer(&snapshot, request);
        let work = match self.task_work(method, terms, request, viewer) {
            Ok(work) => work,
            Err(error) => return state.refuse(request, revision, &error),
        };
        if let Err(refused) = self.admit(request, revision) {
            return self.reject(request, revision, refused, received);
        }
        let dispatcher = &state.service.dispatcher;
        let context = Context::new(dispatcher.environment.clone(), Caller::default(), None);
        let pending = Pending::bare(work, context, dispatcher.settings);
        let scope = AnswerScope { revision, is_private: true };
        let way = ResponseSink { state, snapshot: &snapshot, scope, slot: None, to: request.to };
        self.drive(Dispatched::Pending(pending), request, way, received);
    }

    /// Returns the viewer for this request, which decides what tasks the caller sees.
    pub(super) fn viewer(&self, snapshot: &Snapshot, request: &ClientRequest<'_>) -> Viewer {
        let judged = self.state.service.dispatcher.judged(snapshot, request.carrier);
        Viewer::of(request.carrier.principal(), judged)
    }

    fn task_work(
        &self,
        method: TaskMethod,
        terms: &Terms,
        request: &ClientRequest<'_>,
        viewer: Viewer,
    ) -> Result<TaskWork, Error> {
        let tasks = self.state.service.tasks.clone();
        if method == TaskMethod::List {
            let cursor = request.params.get("cursor").filter(|it| !it.is_null());
            let cursor = match cursor {
                None => None,
                Some(it) => {
                    let text = it.string().ok_or_else(|| invalid("`cursor` must be a string"))?;
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
                    return Err(invalid(text));
                }
                if !matches!(view.state, TaskState::Ended(_)) {
                    // The task must be cancelled when this request is answered (rule TASK4-11).
                    let text = "the task runs in another process: nobody here can cancel it";
                    return Err(Error::msg(text));
                }
                Ok(Done::Task(TaskAnswer::Got(view)))
            }),
            TaskMethod::Result | TaskMethod::List => {
                let (state, to) = (self.state.clone(), request.to.clone());
                let waiting = wait::TaskWait { state, to, terms: terms.clone(), id, viewer };
                Box::pin(waiting.result())
            }
        })
    }
}

type TaskWork = std::pin::Pin<Box<dyn Future<Output = Answer> + Send>>;

/// Reads the answers of a `tasks/update`, by their keys.
fn answers(responses: Option<Raw<'_>>) -> Result<TaskAnswers, Error> {
    let responses = responses.filter(|it| it.kind() == JsonKind::Object);
    let responses = responses.ok_or_else(|| invalid("`inputResponses` must be an object"))?;
    Ok(responses.members().map(|(key, json)| (key.into(), json.as_str().into())).collect())
}

fn ending(view: &TaskView) -> &'static str {
    let TaskState::Ended(end) = &view.state else { return "it runs" };
    match &**end {
        TaskEnd::Result(it) if !it.is_error => "it is completed",
        TaskEnd::Result(_) | TaskEnd::Error(_) => "it has failed",
        TaskEnd::Cancelled => "it was cancelled",
    }
}

/// Ids of the tasks that a session of the older dialect follows.
pub(super) type TaskIds = std::collections::BTreeSet<Arc<str>>;
