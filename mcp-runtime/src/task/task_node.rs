//! This process as a node that runs tasks: commands to other nodes, and requests of this node that wait for tasks of other nodes.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Notify, mpsc},
    task::AbortHandle,
    time::Instant,
};

use super::{message::TaskMessage, record::SharedRecord};
use crate::{
    error::Result,
    node::{NodeId, ServerNode, Subject},
    storage::StoreError,
};

/// Work that the messages of nodes cause. One tokio task does it, in the order of the messages.
pub(super) enum TaskJob {
    /// Tells the clients of this node that follow the task its new state.
    News { owner: Box<str>, id: Box<str> },
    /// Passes the answers of a client to the task.
    Answers { owner: Box<str>, id: Box<str>, name: Box<str>, asked: bool },
}

/// This process as a node that runs tasks.
pub(super) struct TaskNode {
    node: Arc<ServerNode>,
    pub(super) shared: SharedRecord,
    pub(super) jobs: mpsc::UnboundedSender<TaskJob>,
    watches: Mutex<HashMap<u64, Arc<TaskWatch>>>,
    last_watch: AtomicU64,
    /// Work for clients that wait at other nodes, by node and number of the watch.
    served: Mutex<HashMap<(NodeId, u64), ServedWaiter>>,
    is_stopped: AtomicBool,
    /// Locked while this node takes over the tasks of dead nodes.
    pub(super) taking: tokio::sync::Mutex<()>,
}

impl TaskNode {
    pub(super) fn new(
        node: Arc<ServerNode>,
        shared: SharedRecord,
        jobs: mpsc::UnboundedSender<TaskJob>,
    ) -> Self {
        Self {
            node,
            shared,
            jobs,
            watches: Mutex::default(),
            last_watch: AtomicU64::new(0),
            served: Mutex::default(),
            is_stopped: AtomicBool::new(false),
            taking: tokio::sync::Mutex::new(()),
        }
    }

    pub(super) fn id(&self) -> NodeId {
        self.shared.node
    }

    pub(super) fn post(&self, message: &TaskMessage<'_>) {
        self.node.post(Subject::Tasks, &message.write());
    }

    /// Sends a message. It is in the log when the method returns.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn send(&self, message: &TaskMessage<'_>) -> Result<()> {
        self.node.send(Subject::Tasks, &message.write()).await.map_err(StoreError::into_error)
    }

    /// Returns the nodes that are live now. To find out whether the writer of a record is dead, read the record first, and then call this
    /// method.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn live_nodes(&self) -> Result<BTreeSet<NodeId>> {
        self.node.live_nodes().await.map_err(StoreError::into_error)
    }

    /// Returns the time until which it is uncertain which nodes are live.
    pub(super) fn uncertain_until(&self) -> Option<Instant> {
        self.node.uncertain_until()
    }

    /// Returns whether the node has said that it leaves.
    pub(super) fn has_left(&self, node: NodeId) -> bool {
        self.node.has_left(node)
    }

    /// Stops all writes, because this node leaves its tasks to the others.
    pub(super) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Release);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Acquire)
    }

    fn watches(&self) -> MutexGuard<'_, HashMap<u64, Arc<TaskWatch>>> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn served(&self) -> MutexGuard<'_, HashMap<(NodeId, u64), ServedWaiter>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to watch a task that another node runs. Call it before the record of the task is read.
    pub(super) fn watch(&self, id: &str) -> Arc<TaskWatch> {
        let number = self.last_watch.fetch_add(1, Ordering::Relaxed) + 1;
        let watch = Arc::new(TaskWatch {
            number,
            id: id.into(),
            news: Mutex::default(),
            changed: Notify::new(),
        });
        self.watches().insert(number, watch.clone());
        watch
    }

    pub(super) fn unwatch(&self, watch: &TaskWatch) {
        self.watches().remove(&watch.number);
    }

    /// Reports news to the clients of this node that wait for the task.
    pub(super) fn tell_watches(&self, id: &str) {
        self.watches()
            .values()
            .filter(|watch| *watch.id == *id)
            .for_each(|watch| watch.tell(|_| {}));
    }

    /// Reports that messages were lost.
    pub(super) fn reset_watches(&self) {
        self.watches().values().for_each(|watch| watch.tell(|news| news.is_reset = true));
    }

    /// Reports news to one client of this node.
    pub(super) fn tell_watch(&self, number: u64, tell: impl FnOnce(&mut WatchNews)) {
        let watch = self.watches().get(&number).cloned();
        if let Some(watch) = watch {
            watch.tell(tell);
        }
    }

    /// Starts the work for a client that waits at another node, unless it has been started. Ends the work for clients that have not
    /// registered again in time.
    pub(super) fn serve(&self, at: (NodeId, u64), start: impl FnOnce() -> AbortHandle) {
        let mut served = self.served();
        let now = Instant::now();
        served.retain(|other, waiter| {
            let is_late = *other != at && now > waiter.heard + SILENCE;
            if is_late {
                waiter.work.abort();
            }
            !is_late && !waiter.work.is_finished()
        });
        served.entry(at).or_insert_with(|| ServedWaiter { work: start(), heard: now }).heard = now;
    }

    /// Ends the work for those clients at other nodes for which `is_over` returns `true`.
    pub(super) fn end_served(&self, is_over: impl Fn(&(NodeId, u64)) -> bool) {
        self.served().retain(|at, waiter| {
            let is_over = is_over(at);
            if is_over {
                waiter.work.abort();
            }
            !is_over
        });
    }
}

/// Work for a client that waits at another node.
struct ServedWaiter {
    work: AbortHandle,
    /// Time at which the other node has registered the client last.
    heard: Instant,
}

/// Time after which a client that waits at another node counts as gone, unless that node has registered the client again.
const SILENCE: Duration = Duration::from_secs(60);

/// Watch of a client of this node over a task that another node runs.
pub(super) struct TaskWatch {
    pub(super) number: u64,
    id: Box<str>,
    news: Mutex<WatchNews>,
    changed: Notify,
}

/// News of a task that a watch has not handled.
#[derive(Default)]
pub(super) struct WatchNews {
    is_new: bool,
    /// Whether messages may have been lost.
    pub(super) is_reset: bool,
    /// Keys of questions that the client should be asked.
    pub(super) asked: Vec<Box<str>>,
    /// Keys of questions that the client should no longer be asked.
    pub(super) withdrawn: Vec<Box<str>>,
}

impl TaskWatch {
    fn news(&self) -> MutexGuard<'_, WatchNews> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, tell: impl FnOnce(&mut WatchNews)) {
        let mut news = self.news();
        tell(&mut news);
        news.is_new = true;
        drop(news);
        self.changed.notify_one();
    }

    /// Waits for news, and takes them. A watch has a single reader.
    pub(super) async fn next(&self) -> WatchNews {
        loop {
            let news = std::mem::take(&mut *self.news());
            if news.is_new {
                return news;
            }
            self.changed.notified().await;
        }
    }
}
