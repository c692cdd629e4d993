//! Turns calls into tasks that run on their own, and routes the questions and reports of their handlers.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context as Poller, Poll},
    time::Duration,
};

use futures_core::future::BoxFuture;
use mcp_runtime_wire::validate;
use tokio::time::Instant;

use super::{
    live::{LiveTask, TaskOrigin},
    task_node::TaskNode,
    tasks::Tasks,
};
use crate::{
    call::context::{
        AnswerFuture, Asker, Caller, Channel, Context, ProgressReport, TaskBegin, TaskBeginning,
    },
    dispatch::{Dispatched, Dispatcher, PendingHandler, Request},
    error::{Error, ErrorKind, Result},
    limits::{ItemGate, Reservation},
    model::{Done, Level, ListKind, NeedInput, OperationResult, Question, TaskAnswer, Timestamp},
};

/// Follows a call that may become a task, until the call ends or becomes a task. If `always` is true and the call ends before it becomes a
/// task, creates an ended task, from which the client gets the result.
pub(crate) fn follow(
    tasks: &Arc<Tasks>,
    dispatcher: &Arc<Dispatcher>,
    live: Arc<LiveTask>,
    dispatched: Dispatched,
    always: bool,
) -> Dispatched {
    let tasks = tasks.clone();
    let work: BoxFuture<'static, OperationResult> = match dispatched {
        Dispatched::Ready(answer) if !always => {
            live.set_share(None);
            return Dispatched::Ready(answer);
        }
        Dispatched::Ready(answer) => {
            Box::pin(async move { begin_ended(&tasks, &live, answer).await })
        }
        Dispatched::Pending(mut pending) => Box::pin(async move {
            match poll_fn(|cx| until_due(&live, &mut pending, cx)).await {
                None => begin(&tasks, &live, pending).await,
                Some(Some(answer)) if always => begin_ended(&tasks, &live, answer).await,
                Some(Some(answer)) => {
                    live.set_share(None);
                    answer
                }
                Some(None) => Err(Error::msg("cancelled")),
            }
        }),
    };
    // The request ends when the task is created, but the handler continues in the task and keeps its context. So the request gets a context
    // of its own.
    let context = Context::new(dispatcher.environment.clone(), Caller::default(), None);
    Dispatched::Pending(PendingHandler::bare(work, context, dispatcher.settings))
}

/// Creates an ended task for a call that already has its answer, because the client of such a call expects a task in any case.
async fn begin_ended(
    tasks: &Tasks,
    live: &Arc<LiveTask>,
    answer: OperationResult,
) -> OperationResult {
    live.finish(Some(answer));
    live.set_share(None);
    if !tasks.put(live).await? {
        return Err(stopping());
    }
    live.publish_end();
    Ok(Done::Task(TaskAnswer::Created(live.view())))
}

/// Returns the error for a call that would become a task while the server leaves its tasks to other nodes.
#[cold]
fn stopping() -> Error {
    Error::msg("the server is stopping: try again")
}

async fn begin(
    tasks: &Arc<Tasks>,
    live: &Arc<LiveTask>,
    pending: PendingHandler,
) -> OperationResult {
    let mut abandoned = Abandoned { tasks, live, is_kept: true };
    let put = tasks.put(live).await;
    // If several nodes share the store, a write that has failed may still have stored the task. The guard then cancels the task, because
    // other nodes would show it as running.
    let was_refused = put.as_ref().is_err_and(|why| why.kind() == ErrorKind::Failed);
    abandoned.is_kept = put.is_err() && live.origin.is_shared && !was_refused;
    if !put? {
        return Err(stopping());
    }
    run(tasks, live, pending);
    Ok(Done::Task(TaskAnswer::Created(live.view())))
}

/// Runs the task in the background, independently of its call.
fn run(tasks: &Arc<Tasks>, live: &Arc<LiveTask>, pending: PendingHandler) {
    tasks.enter(live);
    live.set_task(pending.context());
    // The tokio task holds only a weak reference, so that it does not use the store after the server was dropped. By then, another server
    // may have opened the store.
    let (tasks, live) = (Arc::downgrade(tasks), live.clone());
    if live.origin.is_shared {
        let keeping: BackgroundWork = Box::pin(keep_stored(tasks.clone(), live.clone()));
        tokio::spawn(keeping);
    }
    let work: BackgroundWork = Box::pin(async move {
        match live.origin.expires {
            None => live.finish(pending.await),
            Some(expires) => match tokio::time::timeout(expires.remaining(), pending).await {
                Ok(answer) => live.finish(answer),
                Err(_) => drop(live.cancel("it ran longer than its `ttl`")),
            },
        }
        settle(tasks, live).await;
    });
    tokio::spawn(work);
}

/// Stores the end of a task, and tries again until the store has it.
async fn settle(tasks: Weak<Tasks>, live: Arc<LiveTask>) {
    let mut pause = FIRST_PAUSE;
    loop {
        let Some(tasks) = tasks.upgrade() else { return };
        if tasks.settle(&live).await {
            return;
        }
        drop(tasks);
        tokio::time::sleep(pause).await;
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

/// Stores each change of a running task, so that clients of other nodes see it. Changes during a write are stored together.
async fn keep_stored(tasks: Weak<Tasks>, live: Arc<LiveTask>) {
    let mut pause = FIRST_PAUSE;
    while live.is_changed().await {
        let Some(tasks) = tasks.upgrade() else { return };
        match tasks.put(&live).await {
            Ok(_) => pause = FIRST_PAUSE,
            Err(_) => {
                live.set_due(Instant::now() + pause);
                pause = (2 * pause).min(LONGEST_PAUSE);
            }
        }
    }
}

/// Pauses between the attempts to write a task to a store that several nodes share.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Pause after an error of the store while this node takes the tasks of others.
const PAUSE: Duration = Duration::from_secs(1);

/// Future that tokio runs in the background. All work has this type, because the compiler generates one instance of tokio's task for each
/// type.
type BackgroundWork = BoxFuture<'static, ()>;

/// Guard held while the store writes a new task that is not running yet. If the client cancels the call during this time, the guard cancels
/// the task.
struct Abandoned<'a> {
    tasks: &'a Arc<Tasks>,
    live: &'a Arc<LiveTask>,
    /// Whether dropping the guard cancels the task.
    is_kept: bool,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        if self.is_kept
            && self.live.cancel("its call was cancelled")
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let work: BackgroundWork =
                Box::pin(settle(Arc::downgrade(self.tasks), self.live.clone()));
            runtime.spawn(work);
        }
    }
}

/// Polls the handler until it has answered, or until its call should become a task. Returns `None` in the second case.
fn until_due(
    live: &LiveTask,
    pending: &mut PendingHandler,
    cx: &mut Poller<'_>,
) -> Poll<Option<Option<OperationResult>>> {
    match Pin::new(pending).poll(cx) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending if live.is_due() => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    }
}

/// Recovers the tasks that were running when the previous process stopped, or that belong to nodes which are gone. A tool that is
/// `idempotent` runs again with its arguments. The task of any other tool ends with an error that gives the reason.
///
/// # Errors
/// Fails if the store cannot be read or written.
pub(crate) async fn recover(tasks: &Arc<Tasks>, dispatcher: &Arc<Dispatcher>) -> Result<()> {
    match tasks.node.get() {
        None => recover_all(tasks, dispatcher).await,
        Some(node) => {
            // A node that starts does not know yet which nodes are live.
            let certain = node.uncertain_until().unwrap_or_else(Instant::now);
            take_later(Arc::downgrade(tasks), Arc::downgrade(dispatcher), certain);
            Ok(())
        }
    }
}

/// Takes the tasks of nodes that are gone at this time, and tries again until this is done.
pub(super) fn take_later(tasks: Weak<Tasks>, dispatcher: Weak<Dispatcher>, at: Instant) {
    let taking: BackgroundWork = Box::pin(async move {
        tokio::time::sleep_until(at).await;
        let mut seen = SeenTasks::default();
        while let (Some(tasks), Some(dispatcher)) = (tasks.upgrade(), dispatcher.upgrade()) {
            let Some(node) = tasks.node.get() else { return };
            let taken = take_over(&tasks, &dispatcher, node, &mut seen).await;
            let again = match taken {
                Ok(None) => return,
                Ok(Some(certain)) => certain,
                Err(why) => {
                    // The log says elsewhere that the store is unavailable.
                    if why.kind() != ErrorKind::Unavailable {
                        let why = why.message();
                        tracing::error!("the tasks of a server that is gone wait: {why}");
                    }
                    Instant::now() + PAUSE
                }
            };
            drop((tasks, dispatcher));
            tokio::time::sleep_until(again).await;
        }
    });
    tokio::spawn(taking);
}

/// Tasks of nodes that are gone, which this node has not taken for sure.
#[derive(Default)]
struct SeenTasks {
    /// Ids of tasks that this node may have taken although the store reported an error.
    unsure: HashSet<String>,
    /// Ids of tasks whose tool this node lacks, with the time since which they are left to the other nodes.
    left: HashMap<String, Instant>,
}

/// Time for which a task is left to the other nodes if this node lacks its tool, as while the nodes are replaced by a new version.
const LEFT: Duration = Duration::from_secs(30);

impl SeenTasks {
    /// Whether another node may still take the task.
    fn is_left(&mut self, id: &str, tool: &str) -> bool {
        let now = Instant::now();
        let since = *self.left.entry(id.to_owned()).or_insert_with(|| {
            tracing::info!(
                "task `{id}` is left to another server, because this server has no tool `{tool}`"
            );
            now
        });
        now < since + LEFT
    }
}

/// Takes the tasks of nodes that are gone. If it is uncertain which nodes are live, the function takes only the tasks of nodes that have said
/// that they leave. Returns the time at which it has to be called again, if there is one.
///
/// # Errors
/// Fails if the store cannot be read or written.
async fn take_over(
    tasks: &Arc<Tasks>,
    dispatcher: &Arc<Dispatcher>,
    node: &TaskNode,
    seen: &mut SeenTasks,
) -> Result<Option<Instant>> {
    let _taking = node.taking.lock().await;
    let uncertain_until = node.uncertain_until();
    let mut again = uncertain_until;
    let unfinished = tasks.stored.unfinished().await?;
    if unfinished.is_empty() {
        return Ok(uncertain_until);
    }
    // The leases are read after the records, so that the writer of a record without a lease is gone.
    let live_nodes = match uncertain_until {
        None => Some(node.live_nodes().await?),
        Some(_) => None,
    };
    for kept in unfinished {
        let record = match kept.read() {
            Ok(record) => record,
            Err(why) => {
                tracing::error!("{}", why.message());
                continue;
            }
        };
        let is_kept = match record.node {
            Some(id) if id == node.id() => !seen.unsure.contains(&kept.id),
            Some(id) if node.has_left(id) => false,
            Some(id) => live_nodes.as_ref().is_none_or(|live| live.contains(&id)),
            None => false,
        };
        if is_kept || node.is_stopped() {
            continue;
        }
        let snapshot = dispatcher.catalog.snapshot();
        if snapshot.find(ListKind::Tools, &record.tool).is_none()
            && seen.is_left(&kept.id, &record.tool)
        {
            again = again.or(Some(Instant::now() + PAUSE));
            continue;
        }
        seen.unsure.insert(kept.id.clone());
        let live = tasks.take(node, &kept, record).await?;
        seen.unsure.remove(&kept.id);
        let Some(live) = live else { continue };
        let (id, tool) = (&live.origin.id, &live.origin.tool);
        match run_again(tasks, dispatcher, &live) {
            Ok(None) => {
                tracing::info!("task `{id}` of a server that is gone runs again (`{tool}`)");
                continue;
            }
            Ok(Some(answer)) => live.finish(Some(answer)),
            Err(why) => {
                tracing::warn!("task `{id}` of a server that is gone has failed (`{tool}`): {why}");
                live.fail(&why);
            }
        }
        tasks.enter(&live);
        let settling: BackgroundWork = Box::pin(settle(Arc::downgrade(tasks), live));
        tokio::spawn(settling);
    }
    Ok(again)
}

async fn recover_all(tasks: &Arc<Tasks>, dispatcher: &Arc<Dispatcher>) -> Result<()> {
    for kept in tasks.stored.unfinished().await? {
        if kept.is_expired() {
            continue;
        }
        let record = match kept.read() {
            Ok(record) => record,
            // Skips a task that cannot be read, so that the others are still recovered.
            Err(why) => {
                tracing::error!("{}", why.message());
                continue;
            }
        };
        let live = tasks.reopen(&kept.owner, record, kept.expires.map(Timestamp));
        match run_again(tasks, dispatcher, &live) {
            Ok(None) => {}
            Ok(Some(answer)) => {
                live.finish(Some(answer));
                tasks.enter(&live);
                tasks.settle(&live).await;
            }
            Err(why) => {
                live.fail(&why);
                tasks.put(&live).await?;
            }
        }
    }
    Ok(())
}

/// Runs the tool of a task again. Returns its answer if the tool is ready at once.
///
/// # Errors
/// Fails if the tool cannot run again. The error text gives the reason.
fn run_again(
    tasks: &Arc<Tasks>,
    dispatcher: &Arc<Dispatcher>,
    live: &Arc<LiveTask>,
) -> Result<Option<OperationResult>, Cow<'static, str>> {
    let TaskOrigin { tool, arguments, client, owner, caller, .. } = &live.origin;
    let arguments = arguments.as_deref().ok_or(ENDED)?;
    let snapshot = dispatcher.catalog.snapshot();
    let Some(entry) = snapshot.find(ListKind::Tools, tool) else {
        return Err(format!("{ENDED}; no server has the tool `{tool}` now").into());
    };
    if !entry.is_idempotent() || entry.task().is_none() {
        return Err(ENDED.into());
    }
    let arguments = validate(arguments.as_bytes(), 1024).map_err(|_| ENDED)?;
    let request = Request::CallTool { name: (&**tool).into(), arguments: Some(arguments.into()) };
    let carrier = dispatcher.rights.carrier_of(owner, caller.as_deref());
    // The access rules of the tool may have changed since the call, so they are checked again.
    #[cfg(feature = "auth")]
    if let Err(no) = dispatcher.rights.permit(&snapshot, Some(entry), &carrier, &request) {
        let why = no.error.message();
        return Err(format!("the server stopped before the task was done: {why}").into());
    }
    let client = client.clone();
    let caller =
        TaskRoute::new(live.clone()).attach_to(Caller { client, carrier, ..Caller::default() });
    let permit = entry.gate.as_ref().and_then(ItemGate::reenter);
    let reservation = Reservation::new(permit, None);
    match dispatcher.dispatch(&snapshot, None, caller, request).holding(reservation) {
        Dispatched::Pending(pending) => {
            run(tasks, live, pending);
            Ok(None)
        }
        Dispatched::Ready(answer) => Ok(Some(answer)),
    }
}

const ENDED: &str = "the server stopped before the task was done: check what the task has already done before you call again";

/// Route for the questions and reports of a handler. They pass through the call until the task begins, and through the task after that.
pub(crate) struct TaskRoute {
    pub(crate) live: Arc<LiveTask>,
    /// Asker and channel of the call, for the time before the task begins.
    pub(crate) asker: Option<Arc<dyn Asker>>,
    pub(crate) channel: Option<Arc<dyn Channel>>,
    /// Channel for reports after the task has begun. Reports also set the message of the task.
    pub(crate) task_channel: Option<Arc<dyn Channel>>,
}

impl TaskRoute {
    pub(crate) fn new(live: Arc<LiveTask>) -> Self {
        Self { live, asker: None, channel: None, task_channel: None }
    }

    /// Sends the questions and reports of a call through this route. This does not depend on whether the client of the call accepts
    /// them: a task asks its questions itself, and takes its message from the reports.
    pub(crate) fn attach_to(self, caller: Caller) -> Caller {
        let route = Arc::new(self);
        Caller {
            asker: Some(route.clone()),
            channel: Some(route.clone()),
            task: Some(route),
            wants_progress: true,
            ..caller
        }
    }

    /// Returns the asker of the call, if the handler decides when the task begins and the task has not begun yet.
    fn asker_before_task(&self) -> Option<&Arc<dyn Asker>> {
        self.asker.as_ref().filter(|_| self.live.begins_later() && !self.live.is_task())
    }

    fn channel(&self) -> Option<&Arc<dyn Channel>> {
        if self.live.is_task() { self.task_channel.as_ref() } else { self.channel.as_ref() }
    }
}

impl Asker for TaskRoute {
    fn ask(&self, key: &str, question: Question) -> AnswerFuture {
        match self.asker_before_task() {
            Some(asker) => asker.ask(key, question),
            None => self.live.ask(key, question),
        }
    }

    fn done(&self, key: &str) -> Option<Box<str>> {
        self.asker.as_ref()?.done(key)
    }

    fn set_done(&self, key: &str, json: Box<str>) {
        if let Some(asker) = self.asker_before_task() {
            asker.set_done(key, json);
        }
    }

    fn hold(&self) {
        if let Some(asker) = self.asker_before_task() {
            asker.hold();
        }
    }

    fn release(&self) {
        if let Some(asker) = self.asker_before_task() {
            asker.release();
        }
    }

    fn fail(&self, error: Error) {
        if let Some(asker) = self.asker_before_task() {
            asker.fail(error);
        }
    }

    fn begin(&self) -> Result<()> {
        self.asker.as_ref().map_or(Ok(()), |asker| asker.begin())
    }

    fn need_input(&self) -> Result<Option<NeedInput>> {
        self.asker_before_task().map_or(Ok(None), |asker| asker.need_input())
    }

    fn is_resumed(&self) -> bool {
        self.asker.as_ref().is_some_and(|asker| asker.is_resumed())
    }

    fn is_waiting(&self) -> bool {
        self.live.is_waiting() || self.asker_before_task().is_some_and(|asker| asker.is_waiting())
    }
}

impl Channel for TaskRoute {
    fn release(&self, retry: Duration) {
        if let Some(channel) = self.channel() {
            channel.release(retry);
        }
    }

    fn progress(&self, report: ProgressReport) {
        self.live.report(&report);
        if let Some(channel) = self.channel() {
            channel.progress(report);
        }
    }

    fn log(&self, level: Level, logger: &str, data: &str) {
        if let Some(channel) = self.channel() {
            channel.log(level, logger, data);
        }
    }
}

impl TaskBegin for TaskRoute {
    fn begin_task(&self) -> TaskBeginning {
        let live = self.live.clone();
        live.want();
        Box::pin(async move { live.until(|task| task.is_task().then_some(())).await })
    }

    fn has_begun(&self) -> bool {
        self.live.is_task()
    }
}
