//! Requests that wait for the end of a task and can ask its questions, at the node of the task and at others.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, timeout_at},
};

use super::{
    local_waiter::Waiter,
    message::{TaskMessage, TextAnswers, able},
    task_node::{TaskNode, TaskWatch},
    tasks::{Tasks, Viewer, unknown},
};
use crate::{
    error::{Error, ErrorKind, Result},
    model::{ClientInfo, Question, TaskState, TaskView},
    node::NodeId,
};

/// Time after which a waiter registers again and looks at the record of its task, in case a message was lost.
const LOOK_AGAIN: Duration = Duration::from_secs(15);

/// Pause after an error of the store.
const PAUSE: Duration = Duration::from_secs(1);

/// Number of attempts to store an answer.
const ATTEMPTS: usize = 10;

/// State of a task for a request that waits for its end.
pub(crate) enum TaskWait {
    Ended(TaskView),
    Waiting(TaskWaiter),
}

/// A client's request that waits for the end of a task, which this or another node runs.
pub(crate) enum TaskWaiter {
    Here(Waiter),
    Elsewhere(RemoteWaiter),
}

impl Tasks {
    /// Begins to wait for the end of a task. The client can be asked the questions of the task.
    ///
    /// # Errors
    /// Fails if the viewer has no such task, if the store is unavailable, or if another process runs the task and several nodes do not share
    /// the store.
    pub(crate) async fn wait(
        self: &Arc<Self>,
        id: &str,
        viewer: &Viewer,
        client: &Arc<ClientInfo>,
    ) -> Result<TaskWait> {
        if let Some(live) = self.live(id, viewer) {
            return Ok(TaskWait::Waiting(TaskWaiter::Here(live.wait(client.clone()))));
        }
        let Some(node) = self.node.get() else {
            let view = self.view(id, viewer).await?;
            if !matches!(view.state, TaskState::Ended(_)) {
                let text = "the task runs in another process, so its end cannot be awaited here";
                return Err(Error::msg(text));
            }
            return Ok(TaskWait::Ended(view));
        };
        let mut waiter = RemoteWaiter {
            tasks: Arc::downgrade(self),
            watch: node.watch(id),
            owner: viewer.owner().into(),
            id: id.into(),
            client: client.clone(),
            node: None,
            state: Mutex::default(),
            arrived: Notify::new(),
        };
        let (view, node) = self.kept(id, viewer).await?;
        if matches!(view.state, TaskState::Ended(_)) {
            return Ok(TaskWait::Ended(view));
        }
        waiter.node = node;
        waiter.begin();
        Ok(TaskWait::Waiting(TaskWaiter::Elsewhere(waiter)))
    }
}

impl TaskWaiter {
    /// Returns a question that this waiter has to send and has not sent yet.
    pub(crate) fn claim(&self) -> Option<(Box<str>, Question)> {
        match self {
            Self::Here(waiter) => waiter.claim(),
            Self::Elsewhere(waiter) => waiter.claim(),
        }
    }

    /// Returns whether this waiter is still responsible for the answer to the question `key`.
    pub(crate) fn holds(&self, key: &str) -> bool {
        match self {
            Self::Here(waiter) => waiter.holds(key),
            Self::Elsewhere(waiter) => waiter.state().held.contains(key),
        }
    }

    /// Waits until [`claim`](Self::claim) returns a question.
    pub(crate) async fn more(&self) {
        match self {
            Self::Here(waiter) => waiter.more().await,
            Self::Elsewhere(waiter) => waiter.more().await,
        }
    }

    /// Passes the handler the answer to its question, or the reason why there is no answer.
    pub(crate) fn answer(&self, key: &str, answer: Result<Box<str>>) {
        match self {
            Self::Here(waiter) => waiter.live().answer(key, answer),
            Self::Elsewhere(waiter) => waiter.answer(key, answer),
        }
    }

    /// Waits until the task is over. Returns its end, or `None` if the caller has to look the task up again, because another node may have
    /// taken it or ended it.
    pub(crate) async fn over(&self) -> Option<TaskView> {
        match self {
            Self::Here(waiter) => waiter.over().await,
            Self::Elsewhere(waiter) => waiter.over().await,
        }
    }
}

/// A client's request that waits for the end of a task of another node. That node decides which waiter sends a question, so that a question
/// is sent once.
pub(crate) struct RemoteWaiter {
    tasks: Weak<Tasks>,
    watch: Arc<TaskWatch>,
    owner: Box<str>,
    id: Box<str>,
    client: Arc<ClientInfo>,
    /// Node that runs the task.
    node: Option<NodeId>,
    state: Mutex<RemoteQuestions>,
    arrived: Notify,
}

#[derive(Default)]
struct RemoteQuestions {
    /// Questions that have to be sent to the client.
    unsent: VecDeque<(Box<str>, Question)>,
    /// Keys of the questions for which this waiter is responsible.
    held: BTreeSet<Box<str>>,
}

impl RemoteWaiter {
    fn state(&self) -> MutexGuard<'_, RemoteQuestions> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_node<T>(&self, work: impl FnOnce(&TaskNode) -> T) -> Option<T> {
        self.tasks.upgrade().and_then(|tasks| tasks.node.get().map(work))
    }

    /// Asks the node of the task for questions.
    fn begin(&self) {
        let (waiter, id) = (self.watch.number, (&*self.id).into());
        let message = TaskMessage::Wait { id, waiter, able: able(&self.client) };
        self.with_node(|node| node.post(&message));
    }

    fn claim(&self) -> Option<(Box<str>, Question)> {
        self.state().unsent.pop_front()
    }

    async fn more(&self) {
        while self.state().unsent.is_empty() {
            self.arrived.notified().await;
        }
    }

    /// Sends the answer to the node of the task.
    fn answer(&self, key: &str, answer: Result<Box<str>>) {
        let answer = answer.map(String::from).map_err(|why| why.message().to_owned());
        let answers: TextAnswers = vec![(key.to_owned(), answer)];
        let (tasks, owner, id) = (self.tasks.clone(), self.owner.clone(), self.id.clone());
        let sending = async move {
            for _ in 0..ATTEMPTS {
                let Some(tasks) = tasks.upgrade() else { return };
                match tasks.send_answers(&owner, &id, &answers, true).await {
                    Ok(()) => return,
                    // The log says elsewhere that the store is unavailable.
                    Err(why) if why.kind() == ErrorKind::Unavailable => {}
                    Err(why) => tracing::error!("an answer of a client waits: {}", why.message()),
                }
                drop(tasks);
                tokio::time::sleep(PAUSE).await;
            }
        };
        // The client may stop waiting while its answer is on its way, so a tokio task sends the answer.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(sending);
        }
    }

    /// Waits until the record of the task shows that the task has ended or has another node, or until messages may have been lost. Always
    /// returns `None`, so that the caller looks the task up again.
    async fn over(&self) -> Option<TaskView> {
        let mut look = Instant::now() + LOOK_AGAIN;
        loop {
            let news = match timeout_at(look, self.watch.next()).await {
                Ok(news) => news,
                Err(_) => {
                    self.begin();
                    look = Instant::now() + LOOK_AGAIN;
                    Default::default()
                }
            };
            let tasks = self.tasks.upgrade().filter(|_| !news.is_reset)?;
            let found = loop {
                match tasks.stored.get(&self.owner, &self.id).await {
                    Ok(found) => break found,
                    Err(_) => tokio::time::sleep(PAUSE).await,
                }
            };
            let record = found.filter(|kept| !kept.finished)?.read().ok()?;
            if record.node != self.node {
                return None;
            }
            let open = match record.view.state {
                TaskState::InputRequired(open) => open,
                _ => Vec::new(),
            };
            let keys: BTreeSet<_> = open.iter().map(|(key, _)| key.clone()).collect();
            let mut state = self.state();
            for (key, question) in open {
                if news.asked.contains(&key) && state.held.insert(key.clone()) {
                    state.unsent.push_back((key, question));
                }
            }
            state.held.retain(|key| keys.contains(key) && !news.withdrawn.contains(key));
            let held = state.held.clone();
            state.unsent.retain(|(key, _)| held.contains(key));
            drop(state);
            self.arrived.notify_one();
        }
    }
}

impl Drop for RemoteWaiter {
    fn drop(&mut self) {
        self.with_node(|node| {
            node.unwatch(&self.watch);
            if self.node.is_some() {
                node.post(&TaskMessage::Unwait { waiter: self.watch.number });
            }
        });
    }
}

/// Serves a client that waits at another node: sends that node each question that it has to ask the client.
pub(super) async fn serve(tasks: Weak<Tasks>, waiter: Waiter, to: NodeId, number: u64) {
    let name = to.to_string();
    let mut sent: Vec<Box<str>> = Vec::new();
    loop {
        {
            let Some(tasks) = tasks.upgrade() else { return };
            let Some(node) = tasks.node.get() else { return };
            let (to, waiter_number) = (|| (&*name).into(), number);
            while let Some((key, _)) = waiter.claim() {
                let asked = (&*key).into();
                node.post(&TaskMessage::Ask { node: to(), waiter: waiter_number, key: asked });
                sent.push(key);
            }
            sent.retain(|key| {
                let is_held = waiter.holds(key);
                if !is_held {
                    let withdrawn = (&**key).into();
                    let message =
                        TaskMessage::Withdraw { node: to(), waiter: waiter_number, key: withdrawn };
                    node.post(&message);
                }
                is_held
            });
        }
        let is_over = waiter.live().until(|task| {
            let is_over = task.has_ended() || task.is_lost();
            let has_work = waiter.has_more() || sent.iter().any(|key| !waiter.holds(key));
            (is_over || has_work).then_some(is_over)
        });
        if is_over.await {
            return;
        }
    }
}

/// Passes answers from another node to the handler. `asked` is true if that node has asked its client.
pub(super) async fn receive_answers(
    tasks: &Tasks,
    owner: &str,
    id: &str,
    name: &str,
    asked: bool,
) -> Result<()> {
    let Some(live) = tasks.running(id) else { return Ok(()) };
    let Some(text) = tasks.stored.message(owner, name).await? else { return Ok(()) };
    let answers: TextAnswers = serde_json::from_slice(&text).map_err(|_| unknown())?;
    for (key, answer) in answers {
        let answer = answer.map(Into::into).map_err(Error::msg);
        if asked {
            live.answer_asked(&key, answer);
        } else {
            live.answer(&key, answer);
        }
    }
    tasks.stored.remove_message(owner, name).await;
    Ok(())
}
