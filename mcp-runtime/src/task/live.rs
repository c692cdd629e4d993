//! Task that runs in this process, with its status, its questions and its end.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use mcp_runtime_wire::Raw;
use tokio::{
    sync::{Notify, oneshot},
    time::Instant,
};

use crate::{
    ask::{asked_twice, missing_capability},
    call::context::{AnswerFuture, Context, ProgressReport},
    catalog::{Catalog, Event},
    error::{Error, ErrorKind, Result},
    limits::Share,
    model::{
        ClientInfo, Done, OperationResult, Question, TaskEnd, TaskState, TaskView, Timestamp,
        ToolResult,
    },
};

/// A call that runs as a task of this process, or may become a task.
pub(crate) struct LiveTask {
    pub(super) origin: TaskOrigin,
    pub(super) catalog: Arc<Catalog>,
    state: Mutex<LiveTaskState>,
    pub(super) changed: Notify,
    /// Lock held while clients are notified, so that an older state is never sent after a newer one.
    telling: Mutex<()>,
    /// Version of the record in a store that several nodes share. `None` before the task is stored. The lock is held during a write.
    pub(super) stored: tokio::sync::Mutex<Option<u64>>,
}

/// Properties that a task has from the start.
pub(super) struct TaskOrigin {
    pub(super) id: Arc<str>,
    pub(super) owner: Box<str>,
    pub(super) tool: Box<str>,
    /// Whether access to the tool was restricted when the task was created.
    pub(super) was_guarded: bool,
    /// Arguments of the call, kept only if the tool may run again after a restart.
    pub(super) arguments: Option<Box<str>>,
    /// Authorization of the caller as JSON text, kept only if the tool may run again after a restart.
    pub(super) caller: Option<Box<str>>,
    pub(super) client: Arc<ClientInfo>,
    pub(super) created: Timestamp,
    pub(super) ttl: Option<Duration>,
    /// Time at which the task expires, by the clock of this process. `None` if the task never expires.
    pub(super) expires: Option<Timestamp>,
    pub(super) poll: Duration,
    /// Whether the handler decides when the task begins.
    pub(super) later: bool,
    /// Whether several nodes share the store. Clients then see only what is in the store.
    pub(super) is_shared: bool,
}

pub(super) struct LiveTaskState {
    phase: Phase,
    updated: Timestamp,
    message: Option<Arc<str>>,
    /// Time at which listening clients were last notified of a message.
    last_notified: Option<Instant>,
    /// Keys of all questions so far. Each key may be used only once (rule TASK5-05).
    keys: BTreeSet<String>,
    pub(super) open: Vec<OpenQuestion>,
    /// Numbers and clients of the requests that wait for the end, the oldest first.
    pub(super) waiters: Vec<(u64, Arc<ClientInfo>)>,
    /// Roots that the client has returned, as JSON text. Further roots requests of the handler get the same answer.
    roots: Option<Box<str>>,
    end: Option<LiveTaskEnd>,
    context: Option<Context>,
    /// Share of the limit on tasks. `None` once the task no longer counts for the limit.
    share: Option<Share>,
    /// State of the task in a store that several nodes share.
    pub(super) shown: Option<TaskView>,
    /// Time at which a change of the task has to be written to a store that several nodes share. `None` if no change has to be written.
    due: Option<Instant>,
    /// Whether this process has given the task up, usually because another node has taken it or will take it.
    is_lost: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    /// The call has not become a task.
    Call,
    /// The handler has requested that the call becomes a task.
    Wanted,
    /// The call is a task. Its client has received the id, or is about to receive it.
    Task,
}

/// End of a task: its outcome and its time.
struct LiveTaskEnd {
    outcome: Arc<TaskEnd>,
    message: Option<Arc<str>>,
    at: Timestamp,
    /// Whether clients can see the end. This is set once the store has saved the end, or has failed to save it. If the process is killed
    /// before that, the next process recovers the task.
    is_public: bool,
}

/// A question without an answer.
pub(super) struct OpenQuestion {
    pub(super) key: Box<str>,
    pub(super) question: Question,
    answer: oneshot::Sender<Result<Box<str>>>,
    /// Number of the waiter that has sent the question to its client.
    pub(super) claimed: Option<u64>,
}

impl LiveTask {
    pub(super) fn new(origin: TaskOrigin, catalog: Arc<Catalog>) -> Arc<Self> {
        let state = LiveTaskState {
            phase: Phase::Call,
            updated: origin.created,
            message: None,
            last_notified: None,
            keys: BTreeSet::new(),
            open: Vec::new(),
            waiters: Vec::new(),
            roots: None,
            end: None,
            context: None,
            share: None,
            shown: None,
            due: None,
            is_lost: false,
        };
        Arc::new(Self {
            origin,
            catalog,
            state: Mutex::new(state),
            changed: Notify::new(),
            telling: Mutex::new(()),
            stored: tokio::sync::Mutex::new(None),
        })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, LiveTaskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the task as clients may see it: as running until its end is stored. If several nodes share the store, returns the stored
    /// state, so that no node shows an older state later.
    pub(crate) fn view(&self) -> TaskView {
        let state = self.state();
        state.shown.clone().unwrap_or_else(|| state.view(&self.origin, |end| end.is_public))
    }

    /// Returns the current state of the task for the store, including an end that clients cannot see yet.
    pub(super) fn latest_view(&self) -> TaskView {
        self.state().view(&self.origin, |_| true)
    }

    /// Notifies waiters and listeners of a change. If several nodes share the store, listeners are notified after the change was stored.
    fn announce_change(&self) {
        if self.origin.is_shared {
            return self.set_due(Instant::now());
        }
        self.changed.notify_waiters();
        if self.is_task() {
            let _telling = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
            self.catalog.bus.publish(&Event::TaskChanged(Arc::new(self.view())));
        }
    }

    /// Sets the time at which the task has to be written to the store, unless it has to be written earlier.
    pub(super) fn set_due(&self, at: Instant) {
        let mut state = self.state();
        state.due = Some(state.due.map_or(at, |due| due.min(at)));
        drop(state);
        self.changed.notify_waiters();
    }

    /// Waits until a change has to be written to the store. Returns `false` once the task has ended.
    pub(super) async fn is_changed(&self) -> bool {
        loop {
            let now = Instant::now();
            let due = self.until(|task| {
                let mut state = task.state();
                if state.end.is_some() {
                    return Some(None);
                }
                let due = state.due?;
                if due <= now {
                    (state.due, state.last_notified) = (None, Some(now));
                }
                Some(Some(due))
            });
            match due.await {
                None => return false,
                Some(due) if due <= now => return true,
                // A change that has to be written earlier ends the pause.
                Some(due) => {
                    let earlier = self.until(|task| {
                        let state = task.state();
                        (state.end.is_some() || state.due.is_none_or(|new| new < due)).then_some(())
                    });
                    let _ = tokio::time::timeout_at(due, earlier).await;
                }
            }
        }
    }

    /// Returns the state of the task for a store that several nodes share. Because the caller writes this state, no earlier change has to be
    /// written any more.
    pub(super) fn view_to_store(&self) -> TaskView {
        let mut state = self.state();
        state.due = None;
        state.view(&self.origin, |_| true)
    }

    /// Shows clients of this node the state that is in the store now.
    pub(super) fn show(&self, view: TaskView) {
        self.state().shown = Some(view);
        self.changed.notify_waiters();
    }

    /// Ends the work on a task that another node has taken, or will take. Nothing is stored after that.
    pub(super) fn lose(&self) {
        let ended = self.end(TaskEnd::Cancelled, None);
        self.state().is_lost = true;
        if let Some((open, context)) = ended {
            if let Some(context) = context {
                context.close();
                context.set_cancelled();
            }
            drop(open);
        }
        self.changed.notify_waiters();
    }

    /// Returns whether this process has given the task up.
    pub(super) fn is_lost(&self) -> bool {
        self.state().is_lost
    }

    /// Returns whether the call has become a task.
    pub(super) fn is_task(&self) -> bool {
        self.state().phase == Phase::Task
    }

    /// Returns whether the call should become a task now.
    pub(super) fn is_due(&self) -> bool {
        !self.origin.later || self.state().phase == Phase::Wanted
    }

    /// Records that the handler has requested the task. Returns whether the task has begun already.
    pub(super) fn want(&self) -> bool {
        let mut state = self.state();
        if state.phase == Phase::Call {
            state.phase = Phase::Wanted;
        }
        state.phase == Phase::Task
    }

    pub(super) fn set_task(&self, context: &Context) {
        let mut state = self.state();
        state.phase = Phase::Task;
        state.context = Some(context.clone()).filter(|_| state.end.is_none());
        drop(state);
        // Another thread may be sending a progress report of the call, and holds this lock while it does. Taking the lock here ensures that
        // the report is sent before the answer.
        drop(context.lock_progress());
        self.changed.notify_waiters();
    }

    /// Sets the task's share of the limit on tasks. `None` releases the share.
    pub(super) fn set_share(&self, share: Option<Share>) {
        self.state().share = share;
    }

    pub(crate) fn id(&self) -> &Arc<str> {
        &self.origin.id
    }

    /// Returns whether the handler decides when the task begins.
    pub(crate) fn begins_later(&self) -> bool {
        self.origin.later
    }

    /// Returns whether clients can see that the task has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.state().end.as_ref().is_some_and(|end| end.is_public)
    }

    /// Makes the end visible to clients. The caller must have stored the end, or must have tried to.
    pub(super) fn publish_end(&self) {
        if let Some(end) = &mut self.state().end {
            end.is_public = true;
        }
        if self.origin.is_shared {
            self.changed.notify_waiters();
        } else {
            self.announce_change();
        }
    }

    /// Waits until `look` returns a value, and returns that value. `look` is called again after each change.
    pub(crate) async fn until<T>(&self, mut look: impl FnMut(&Self) -> Option<T>) -> T {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(found) = look(self) {
                return found;
            }
            changed.await;
        }
    }

    /// Sets the message of the task. Clients that poll see each message, unless several nodes share the store. Clients that listen are
    /// notified at most once per polling interval.
    pub(super) fn report(&self, report: &ProgressReport) {
        let text = match (&report.message, report.total) {
            (Some(message), _) => message.clone(),
            (None, Some(total)) => format!("{} of {total}", report.progress),
            (None, None) => report.progress.to_string(),
        };
        let mut state = self.state();
        if state.end.is_some() {
            return;
        }
        state.message = Some(text.into());
        state.updated = Timestamp::now();
        let now = Instant::now();
        let next = state.last_notified.map_or(now, |last| last + self.origin.poll);
        if now < next {
            drop(state);
            if self.origin.is_shared {
                self.set_due(next);
            }
            return;
        }
        state.last_notified = Some(now);
        drop(state);
        self.announce_change();
    }

    /// Ends the task, without showing the end to clients yet. Returns the open questions and the context of the call, or `None` if the task
    /// had already ended. Dropping the questions wakes the handler. The context is removed from the task, because the task and the context
    /// would otherwise keep each other alive.
    fn end(
        &self,
        outcome: TaskEnd,
        message: Option<&str>,
    ) -> Option<(Vec<OpenQuestion>, Option<Context>)> {
        let mut state = self.state();
        if state.end.is_some() {
            return None;
        }
        state.end = Some(LiveTaskEnd {
            outcome: Arc::new(outcome),
            message: message.map(Into::into),
            at: Timestamp::now(),
            is_public: false,
        });
        Some((std::mem::take(&mut state.open), state.context.take()))
    }

    /// Ends the task with the handler's answer. `None` means that the handler was cancelled.
    pub(super) fn finish(&self, answer: Option<OperationResult>) {
        let (end, message) = match answer {
            Some(Ok(Done::Tool(result))) => (TaskEnd::Result(result), None),
            Some(Err(error)) if error.kind() == ErrorKind::Internal => {
                tracing::error!(
                    "task `{}` of `{}`: {}",
                    self.origin.id,
                    self.origin.tool,
                    error.message()
                );
                (TaskEnd::Error(error), None)
            }
            Some(Err(error)) => {
                let message = error.message().to_owned();
                (TaskEnd::Error(error), Some(message))
            }
            Some(Ok(_)) => {
                let result =
                    ToolResult::failure("the tool returned something that is not a result");
                (TaskEnd::Result(result), None)
            }
            None => (TaskEnd::Cancelled, None),
        };
        drop(self.end(end, message.as_deref()));
    }

    /// Cancels the task. Returns whether it was still running.
    pub(super) fn cancel(&self, why: &str) -> bool {
        let Some((open, context)) = self.end(TaskEnd::Cancelled, Some(why)) else { return false };
        if let Some(context) = context {
            // The context is closed before clients can see the end, so that no report follows the end.
            context.close();
            context.set_cancelled();
        }
        drop(open);
        true
    }

    /// Ends the task with an error that says why the task could not continue.
    pub(super) fn fail(&self, why: &str) {
        self.finish(Some(Err(Error::msg(why))));
    }

    pub(super) fn ask(self: &Arc<Self>, key: &str, question: Question) -> AnswerFuture {
        let failed = |error| Box::pin(std::future::ready(Err(error)));
        if let Some(error) = missing_capability(&self.origin.client, &question) {
            // The call has already been accepted, so the missing capability is a failure of the task and not a rejection of the call.
            return failed(Error::msg(error.message()));
        }
        if let Question::Url { url, must_visit: true, .. } = &question {
            // After the user has visited the URL, clients do not repeat the call of a task by themselves. Therefore the handler gets an
            // error that tells the model to repeat it.
            let text = format!("the user must visit {url} first: call the tool again after that");
            return failed(Error::msg(text));
        }
        let (answer, waiting) = oneshot::channel();
        let mut state = self.state();
        if state.end.is_some() {
            return failed(Error::msg("the task has ended: the client can no longer be asked"));
        }
        let is_roots = matches!(question, Question::Roots);
        if let Some(roots) = state.roots.clone().filter(|_| is_roots) {
            return Box::pin(std::future::ready(Ok(roots)));
        }
        let mut key: Box<str> = key.into();
        while is_roots && state.keys.contains(&*key) {
            key = format!("{key}-again").into();
        }
        if !state.keys.insert(key.to_string()) {
            return failed(asked_twice(&key));
        }
        state.open.push(OpenQuestion { key: key.clone(), question, answer, claimed: None });
        state.updated = Timestamp::now();
        drop(state);
        self.announce_change();
        let withdraw = Withdraw { live: self.clone(), key };
        Box::pin(async move {
            let _withdraw = withdraw;
            let gone = || Error::msg("the task has ended without an answer");
            waiting.await.unwrap_or_else(|_| Err(gone()))
        })
    }

    /// Returns whether the task waits for an answer from a client.
    pub(super) fn is_waiting(&self) -> bool {
        !self.state().open.is_empty()
    }

    /// Passes the handler the answer to its question, or the reason why there is no answer. An answer that does not fit its question, or
    /// has no open question, is ignored.
    pub(crate) fn answer(&self, key: &str, answer: Result<Box<str>>) {
        let mut state = self.state();
        let Some(at) = state.open.iter().position(|open| &*open.key == key) else { return };
        if let Ok(json) = &answer {
            if let Err(why) = state.open[at].question.check(Raw::trusted(json)) {
                tracing::debug!("an answer to `{key}` cannot be used: {why}");
                return;
            }
            if matches!(state.open[at].question, Question::Roots) {
                state.roots = Some(json.clone());
            }
        }
        let open = state.open.remove(at);
        state.updated = Timestamp::now();
        drop(state);
        let _ = open.answer.send(answer);
        self.announce_change();
    }

    /// Passes the handler the answer of a client that another node has asked. Unlike [`answer`](Self::answer), an answer that does not fit
    /// its question is an error of the handler, because that node does not ask again.
    pub(super) fn answer_asked(&self, key: &str, answer: Result<Box<str>>) {
        let misfit = answer.as_ref().ok().and_then(|json| {
            let state = self.state();
            let open = state.open.iter().find(|open| &*open.key == key)?;
            open.question.check(Raw::trusted(json)).err()
        });
        self.answer(
            key,
            match misfit {
                Some(why) => {
                    Err(Error::msg(format_args!("the client's answer cannot be used: {why}")))
                }
                None => answer,
            },
        );
    }

    /// Returns whether the time to live of the task has elapsed.
    pub(super) fn is_expired(&self) -> bool {
        self.origin.expires.is_some_and(|expires| expires <= Timestamp::now())
    }
}

impl LiveTaskState {
    /// Returns a view of the task. If the task has ended and `shows` rejects that end, the view shows the task as still running.
    fn view(&self, origin: &TaskOrigin, shows: impl FnOnce(&LiveTaskEnd) -> bool) -> TaskView {
        let end = self.end.as_ref().filter(|end| shows(end));
        TaskView {
            id: origin.id.clone(),
            message: end.map_or(&self.message, |end| &end.message).clone(),
            created: origin.created,
            updated: end.map_or(self.updated, |end| end.at),
            ttl: origin.ttl,
            poll: origin.poll,
            version: 0,
            state: match end {
                Some(end) => TaskState::Ended(end.outcome.clone()),
                None if self.open.is_empty() => TaskState::Working,
                None => TaskState::InputRequired(
                    self.open
                        .iter()
                        .map(|open| (open.key.clone(), open.question.clone()))
                        .collect(),
                ),
            },
        }
    }
}

/// Withdraws a question when the handler no longer waits for its answer.
struct Withdraw {
    live: Arc<LiveTask>,
    key: Box<str>,
}

impl Drop for Withdraw {
    fn drop(&mut self) {
        let mut state = self.live.state();
        let before = state.open.len();
        state.open.retain(|open| open.key != self.key);
        let was_there = state.open.len() < before;
        drop(state);
        if was_there {
            self.live.announce_change();
        }
    }
}
