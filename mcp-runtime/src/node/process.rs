//! The node of this process: it joins the others, renews its lease, and sends and receives messages.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

use super::{
    barrier::{BarrierMessage, OpenBarriers},
    lease::{self, Found, NodeId, OtherNodes, PARTITION, RENEWAL},
    message::{Delivery, MESSAGES, MessageHandlers, NodeMessage, Subject},
    outgoing::Outgoing,
};
use crate::{
    storage::{self, Output, Store, StoreError, StoreOperation, Transaction, TransactionResult},
    unwind,
};

/// Longest time between two attempts while the store is unavailable.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Number of times that a stopping node checks whether its last messages have been sent, and the pause between two checks.
const LAST_LOOKS: usize = 100;
const LAST_LOOK: Duration = Duration::from_millis(20);

/// Maximum number of nodes of which a node knows the last message.
const MOST_SENDERS: usize = 10_000;

/// Minimum time between two log lines about an unavailable store.
const QUIET: Duration = Duration::from_secs(10);

/// Message of a node that leaves.
const LEFT: &str = "";

/// Handler that learns of nodes that have left or died.
type LossHandler = Box<dyn Fn(&BTreeSet<NodeId>) + Send + Sync>;

/// Handler that is called when the store may lack records that live nodes renew.
type ResetHandler = Box<dyn Fn() + Send + Sync>;

/// Further operations of every renewal of the lease, in the partition of the nodes.
type Renewals = Box<dyn Fn() -> Vec<StoreOperation> + Send + Sync>;

/// This process as one of several nodes that share a store.
pub(crate) struct ServerNode {
    state: Arc<NodeState>,
    /// Tokio tasks of the node. They end when the node is dropped.
    running: Mutex<JoinSet<()>>,
}

struct NodeState {
    id: NodeId,
    store: Arc<dyn Store>,
    outgoing: Outgoing,
    handlers: MessageHandlers,
    on_loss: OnceLock<LossHandler>,
    on_reset: Mutex<Vec<ResetHandler>>,
    renewals: OnceLock<Renewals>,
    /// Id of the last message that this node has read.
    last_read: AtomicU64,
    /// For each node, the number of its last message that may be stored twice.
    last_of: Mutex<HashMap<NodeId, u64>>,
    others: Mutex<OtherNodes>,
    barriers: OpenBarriers,
    /// Time of the last log line about an unavailable store.
    complained: Mutex<Option<Instant>>,
}

impl ServerNode {
    /// Joins the nodes that share the store. Messages are delivered only after [`receive`](Self::receive) was called.
    ///
    /// # Errors
    /// Fails if the store is unavailable, or if the system has no random numbers.
    pub(crate) async fn join(store: Arc<dyn Store>) -> Result<Self, StoreError> {
        let id = NodeId::new().map_err(|why| StoreError::failed(why.message()))?;
        let state = NodeState {
            id,
            store,
            outgoing: Outgoing::default(),
            handlers: Default::default(),
            on_loss: OnceLock::new(),
            on_reset: Mutex::default(),
            renewals: OnceLock::new(),
            last_read: AtomicU64::new(0),
            last_of: Mutex::default(),
            others: Mutex::default(),
            barriers: OpenBarriers::default(),
            complained: Mutex::default(),
        };
        storage::try_while_unavailable(StoreError::is_unavailable, || state.renew()).await?;
        Ok(Self { state: Arc::new(state), running: Mutex::default() })
    }

    pub(crate) fn id(&self) -> NodeId {
        self.state.id
    }

    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "for sessions over HTTP"))]
    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.state.store
    }

    /// Sets the handler of a subject. A second handler of the same subject is ignored. The handler is called for messages that arrive after
    /// [`receive`](Self::receive).
    pub(crate) fn on(
        &self,
        subject: Subject,
        handler: impl Fn(Delivery<'_>) + Send + Sync + 'static,
    ) {
        self.state.handlers.set(subject, Box::new(handler));
    }

    /// Sets the handler that learns of nodes that have left or died.
    pub(crate) fn on_loss(&self, handler: impl Fn(&BTreeSet<NodeId>) + Send + Sync + 'static) {
        let _ = self.state.on_loss.set(Box::new(handler));
    }

    /// Adds a handler that is called when the store may lack records that live nodes renew: because the store has lost its data, or because
    /// this node could not renew the records in time. A handler must not add another one.
    pub(crate) fn on_reset(&self, handler: impl Fn() + Send + Sync + 'static) {
        let handlers = &self.state.on_reset;
        handlers.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(handler));
    }

    /// Sets the function that returns further operations for each renewal of the lease, in the partition of the nodes.
    pub(crate) fn renewing(
        &self,
        renewals: impl Fn() -> Vec<StoreOperation> + Send + Sync + 'static,
    ) {
        let _ = self.state.renewals.set(Box::new(renewals));
    }

    /// Reads which nodes are live now. To learn whether the writer of a record is dead, read the record first, and then call this function.
    /// A node takes its lease before it writes anything else, so a writer that is missing in the result is dead.
    ///
    /// # Errors
    /// Fails if the store is unavailable, or if this node cannot know yet which nodes are live (see [`uncertain_until`](Self::uncertain_until)).
    pub(crate) async fn live_nodes(&self) -> Result<BTreeSet<NodeId>, StoreError> {
        let live = lease::live_nodes(&self.state.execute(vec![lease::list()]).await?);
        self.certain().map(|()| live)
    }

    /// Returns the transaction that reads which nodes are live, for [`is_live`](Self::is_live) and [`count_live`](Self::count_live).
    pub(crate) fn listing() -> Transaction {
        Transaction::on(PARTITION).then(lease::list())
    }

    /// Returns the number of live nodes, according to the outputs of [`listing`](Self::listing).
    pub(crate) fn count_live(listed: &[Output]) -> usize {
        lease::live_nodes(listed).len()
    }

    /// Returns whether a node is live, according to the outputs of [`listing`](Self::listing).
    ///
    /// # Errors
    /// Fails if the node has no lease but may be live nevertheless (see [`uncertain_until`](Self::uncertain_until)).
    #[cfg(feature = "http")]
    pub(crate) fn is_live(&self, node: NodeId, listed: &[Output]) -> Result<bool, StoreError> {
        let is_live = lease::live_nodes(listed).contains(&node);
        if is_live { Ok(true) } else { self.certain().map(|()| false) }
    }

    /// Checks that nodes without a lease are dead.
    ///
    /// # Errors
    /// Fails if live nodes may have lost their leases because the store was away or has lost its data, or if this node has started so
    /// recently that it cannot know whether the store was away.
    fn certain(&self) -> Result<(), StoreError> {
        if self.uncertain_until().is_none() { Ok(()) } else { Err(unsettled()) }
    }

    /// Checks that records which live nodes renew are in the store.
    ///
    /// # Errors
    /// Fails if the store was away for so long that such records may have expired, or if it has lost its data.
    #[cfg(feature = "http")]
    pub(crate) fn has_renewed_records(&self) -> Result<(), StoreError> {
        if self.state.others().may_lack_records() { Err(unsettled()) } else { Ok(()) }
    }

    /// Returns the time until which [`live_nodes`](Self::live_nodes) fails, because nodes without a lease may be live. Returns `None` if
    /// this node knows which nodes are live.
    pub(crate) fn uncertain_until(&self) -> Option<Instant> {
        self.state.others().uncertain_until()
    }

    /// Returns whether the node has sent a message that it leaves. Such a node is gone, even while this node cannot know which other nodes are
    /// live.
    pub(crate) fn has_left(&self, node: NodeId) -> bool {
        self.state.others().has_left(node)
    }

    /// Executes operations without conditions in the partition of the nodes.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(crate) async fn execute(
        &self,
        operations: Vec<StoreOperation>,
    ) -> Result<Vec<Output>, StoreError> {
        self.state.execute(operations).await
    }

    /// Executes operations in the partition of the nodes, and sends a message to all nodes, unless a condition of an operation does not hold.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(crate) async fn attempt_with(
        &self,
        mut operations: Vec<StoreOperation>,
        subject: Subject,
        body: &str,
    ) -> Result<(), StoreError> {
        operations.push(self.state.append(0, subject, body));
        let transaction = Transaction { partition: PARTITION.to_owned(), operations };
        storage::execute(&*self.state.store, vec![transaction]).await.map(drop)
    }

    /// Begins to receive messages and to renew the lease. This node receives all messages that are sent after this method has read the end
    /// of the log.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(crate) async fn receive(&self) -> Result<(), StoreError> {
        // The lease may have ended since the node has joined.
        self.state.renew().await?;
        let read = StoreOperation::read(MESSAGES, 0, 1);
        let outputs = self.state.execute(vec![read]).await?;
        let last = match outputs.first() {
            Some(Output::Events { last, .. }) => *last,
            _ => 0,
        };
        tracing::info!("this server is the node {} of those that share the store", self.id());
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        self.state.last_read.store(last, Ordering::Relaxed);
        let [reader, sender, renewer] = [(); 3].map(|()| self.state.clone());
        running.spawn(restarting("reads the messages of the nodes", move || reader.clone().read()));
        running
            .spawn(restarting("sends the messages of a node", move || sender.clone().send_all()));
        running
            .spawn(restarting("renews the lease of a node", move || renewer.clone().keep_lease()));
        Ok(())
    }

    /// Sends a message to all nodes, this one included. The method returns at once. The message waits while the store is unavailable.
    pub(crate) fn post(&self, subject: Subject, body: &str) {
        self.post_with(Vec::new(), subject, body);
    }

    /// Sends a message like [`post`](Self::post), and executes operations in the partition of the nodes in the same transaction.
    pub(crate) fn post_with(&self, mut with: Vec<StoreOperation>, subject: Subject, body: &str) {
        self.state.outgoing.push(|number| {
            with.push(self.state.append(number, subject, body));
            with
        });
    }

    /// Sends a message to all nodes, this one included. The message is in the log when the method returns.
    ///
    /// # Errors
    /// Fails if the store is unavailable. The message may be in the log or not.
    pub(crate) async fn send(&self, subject: Subject, body: &str) -> Result<(), StoreError> {
        self.state.execute(vec![self.state.append(0, subject, body)]).await.map(drop)
    }

    /// Sends a message like [`send`](Self::send), and executes operations in the partition of the nodes in the same transaction. If one of
    /// their conditions does not hold, sends no message, and returns the reason.
    ///
    /// # Errors
    /// Fails if the store is unavailable. The transaction may have been applied or not.
    #[cfg(feature = "http")]
    pub(crate) async fn send_with(
        &self,
        mut operations: Vec<StoreOperation>,
        subject: Subject,
        body: &str,
    ) -> Result<TransactionResult, StoreError> {
        operations.push(self.state.append(0, subject, body));
        let transaction = Transaction { partition: PARTITION.to_owned(), operations };
        let results = storage::execute(&*self.state.store, vec![transaction]).await?;
        let first = results.into_iter().next();
        first.ok_or_else(|| StoreError::failed("the store has returned no result"))
    }

    /// Waits until all other nodes have handled the messages that are in the log now, but no longer than `most`.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "for sessions over HTTP"))]
    pub(crate) async fn all_have_read(&self, most: Duration) -> Result<(), StoreError> {
        let (number, passed) = self.state.barriers.open();
        let asked = BarrierMessage::Asked(number).write();
        let asked = self.state.append(0, Subject::Nodes, &asked);
        let sent = self.state.execute(vec![lease::list(), asked]).await;
        if let Ok(outputs) = &sent {
            let mut others = lease::live_nodes(outputs);
            others.remove(&self.state.id);
            self.state.barriers.need(number, others);
            let _ = tokio::time::timeout(most, passed).await;
        }
        self.state.barriers.close(number);
        sent.map(drop)
    }

    /// Leaves the other nodes, and tells them so. If the store is unavailable, the other nodes notice later that the lease has expired.
    pub(crate) async fn leave(&self) {
        for _ in 0..LAST_LOOKS {
            if self.state.outgoing.is_sent() {
                break;
            }
            sleep(LAST_LOOK).await;
        }
        let mut running =
            std::mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        running.shutdown().await;
        let left = self.state.append(0, Subject::Nodes, LEFT);
        let left = self.state.execute(vec![lease::end(self.state.id), left]).await;
        if let Err(why) = left {
            tracing::debug!("the other nodes are not told that this node stops: {why}");
        }
    }
}

impl fmt::Debug for ServerNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServerNode").field(&self.state.id).finish()
    }
}

fn unsettled() -> StoreError {
    StoreError::unavailable(
        "the store may have been away, and the nodes have not renewed their leases yet",
    )
}

impl NodeState {
    fn others(&self) -> MutexGuard<'_, OtherNodes> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the operation that appends a message to the log. `number` is 0 if the message is not stored again after an error.
    fn append(&self, number: u64, subject: Subject, body: &str) -> StoreOperation {
        NodeMessage { from: self.id, number, subject, body }.append()
    }

    async fn execute(&self, operations: Vec<StoreOperation>) -> Result<Vec<Output>, StoreError> {
        let transaction = Transaction { partition: PARTITION.to_owned(), operations };
        outputs(storage::execute(&*self.store, vec![transaction]).await?)
    }

    /// Renews the lease, and reports the nodes that have gone since the last renewal.
    async fn renew(&self) -> Result<(), StoreError> {
        let mut renewal = lease::renewal(self.id);
        if let Some(renewals) = self.renewals.get() {
            renewal.operations.splice(0..0, renewals());
        }
        let found = Found::of(outputs(storage::execute(&*self.store, vec![renewal]).await?)?);
        let renewed = self.others().renew(self.id, found);
        if renewed.has_reset {
            tracing::error!(
                "the store has lost its data: sessions, logins and finished tasks are gone, and clients have to begin again"
            );
        }
        if renewed.lacks_origin {
            let begin = Transaction::on(PARTITION).then(lease::begin(self.id));
            // If this fails, the next renewal tries again.
            let _ = storage::execute(&*self.store, vec![begin]).await;
        }
        if renewed.has_reset || renewed.is_late {
            self.on_reset
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .iter()
                .for_each(|tell| tell());
        }
        self.lose(renewed.lost);
        Ok(())
    }

    fn lose(&self, lost: BTreeSet<NodeId>) {
        let lost = self.others().lose(lost);
        if lost.is_empty() {
            return;
        }
        for node in &lost {
            tracing::info!("node {node} has gone");
        }
        if let Some(on_loss) = self.on_loss.get() {
            on_loss(&lost);
        }
    }

    async fn keep_lease(self: Arc<Self>) {
        loop {
            sleep(RENEWAL).await;
            if let Err(why) = self.renew().await {
                self.complain("the lease of this node cannot be renewed", &why);
                continue;
            }
            // A full store may still renew leases, so this write shows whether it has space. The counters of the store note the result.
            let _ = self.execute(vec![lease::space()]).await;
        }
    }

    async fn send_all(self: Arc<Self>) {
        let mut pauses = Pauses::default();
        loop {
            let batch = self.outgoing.next().await;
            if batch.dropped > 0 {
                tracing::error!(
                    "{} messages to other nodes are lost, because the store was unavailable",
                    batch.dropped
                );
            }
            match self.execute(batch.messages.iter().flatten().cloned().collect()).await {
                Ok(_) => {
                    self.outgoing.stored(&batch);
                    pauses = Pauses::default();
                }
                Err(why) => {
                    self.complain("messages to other nodes have to wait", &why);
                    // The store may have stored the messages in spite of the error. Readers skip a message that comes twice.
                    self.outgoing.put_back(batch);
                    sleep(pauses.next()).await;
                }
            }
        }
    }

    async fn read(self: Arc<Self>) {
        let mut last = self.last_read.load(Ordering::Relaxed);
        let mut follower = self.store.follow(PARTITION, MESSAGES, last);
        let mut pauses = Pauses::default();
        loop {
            match follower.next().await {
                Ok(event) => {
                    // The id of the first event of a log can be any number, so it does not show a gap.
                    let has_gap = last != 0 && event.id != last + 1;
                    last = event.id;
                    // The id is stored before the handlers run, so that a message whose handler panics is not read again.
                    self.last_read.store(last, Ordering::Relaxed);
                    self.deliver(&event.value, has_gap);
                    pauses = Pauses::default();
                }
                Err(why) => {
                    self.complain("messages of other nodes cannot be read", &why);
                    sleep(pauses.next()).await;
                }
            }
        }
    }

    fn deliver(&self, value: &[u8], has_gap: bool) {
        if has_gap {
            tracing::warn!(
                "messages of other nodes may be lost: clients are told to read their resources again"
            );
            self.handlers.report_gap();
        }
        let Some(NodeMessage { from, number, subject, body }) = NodeMessage::read(value) else {
            tracing::debug!("ignored a message of a node, which has an unknown form");
            return;
        };
        if self.is_repeated(from, number) {
            return;
        }
        self.handlers.deliver(subject, Delivery::Message { from, body });
        if subject == Subject::Nodes && from != self.id {
            self.hear_of(from, body);
        }
    }

    /// Returns whether this node has read the message with this number before. The sender stores a message again if it does not know
    /// whether the store has it.
    fn is_repeated(&self, from: NodeId, number: u64) -> bool {
        if number == 0 {
            return false;
        }
        let mut last_of = self.last_of.lock().unwrap_or_else(PoisonError::into_inner);
        if last_of.len() >= MOST_SENDERS && !last_of.contains_key(&from) {
            last_of.clear();
        }
        let last = last_of.entry(from).or_default();
        let is_repeated = number <= *last;
        *last = number.max(*last);
        is_repeated
    }

    /// Handles a message about the nodes themselves.
    fn hear_of(&self, from: NodeId, body: &str) {
        match BarrierMessage::read(body) {
            Some(BarrierMessage::Asked(number)) => {
                let read = BarrierMessage::Read(from, number).write();
                self.outgoing.push(|number| vec![self.append(number, Subject::Nodes, &read)]);
            }
            Some(BarrierMessage::Read(node, number)) if node == self.id => {
                self.barriers.pass(number, from);
            }
            Some(BarrierMessage::Read(..)) => {}
            None if body == LEFT => {
                self.others().leave(from);
                self.lose(BTreeSet::from([from]));
            }
            None => tracing::debug!("ignored a message about nodes, which has an unknown form"),
        }
    }

    /// Logs an error of the store, at most once in ten seconds. `MeasuredStore` logs that the store is unavailable or full, so here this is
    /// only a debug event.
    fn complain(&self, what: &str, why: &StoreError) {
        if why.is_unavailable() || why.is_full() {
            return tracing::debug!("{what}: {why}");
        }
        let mut complained = self.complained.lock().unwrap_or_else(PoisonError::into_inner);
        if complained.is_none_or(|at| at.elapsed() >= QUIET) {
            *complained = Some(Instant::now());
            drop(complained);
            tracing::error!("{what}: {why}");
        }
    }
}

/// Runs `work`, which never ends. If it panics, it is started again after a pause.
async fn restarting<F: Future<Output = ()> + Send + 'static>(what: &str, work: impl Fn() -> F) {
    while unwind::catch_async(|| Box::pin(work())).await.is_err() {
        tracing::error!("the part of the server that {what} has panicked, and begins again");
        sleep(LONGEST_PAUSE).await;
    }
}

/// Returns the outputs of the only transaction, which has no conditions.
fn outputs(results: Vec<TransactionResult>) -> Result<Vec<Output>, StoreError> {
    let first = results.into_iter().next().and_then(Result::ok);
    first.ok_or_else(|| {
        StoreError::failed("the store has rejected a transaction without conditions")
    })
}

/// Pauses between attempts. Each pause is twice as long as the previous one, up to [`LONGEST_PAUSE`].
struct Pauses(Duration);

impl Default for Pauses {
    fn default() -> Self {
        Self(Duration::from_millis(25))
    }
}

impl Pauses {
    fn next(&mut self) -> Duration {
        self.0 = (self.0 * 2).min(LONGEST_PAUSE);
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{super::message, *};
    use crate::storage::MemoryStore;

    type Heard = Arc<Mutex<Vec<String>>>;

    /// Returns a node that receives messages, and the list of what its handlers have heard.
    async fn node(store: &Arc<MemoryStore>) -> (ServerNode, Heard) {
        let (node, heard) = (ServerNode::join(store.clone()).await.unwrap(), Heard::default());
        let log = heard.clone();
        node.on(Subject::Catalog, move |delivery| {
            let text = match delivery {
                Delivery::Message { body, .. } => body.to_owned(),
                Delivery::Gap => "gap".to_owned(),
            };
            log.lock().unwrap().push(text);
        });
        let log = heard.clone();
        node.on_loss(move |lost| log.lock().unwrap().push(format!("{} lost", lost.len())));
        node.receive().await.unwrap();
        (node, heard)
    }

    async fn hears(heard: &Heard, expected: &[&str]) {
        tokio::time::timeout(Duration::from_secs(60), async {
            while *heard.lock().unwrap() != expected {
                sleep(Duration::from_millis(1)).await;
            }
        })
        .await
        .unwrap_or_else(|_| panic!("{:?}, not {expected:?}", heard.lock().unwrap()));
    }

    #[tokio::test(start_paused = true)]
    async fn all_nodes_hear_all_messages_in_the_same_order() {
        let store = Arc::new(MemoryStore::new());
        let (one, two) = (node(&store).await, node(&store).await);
        one.0.post(Subject::Catalog, "a");
        two.0.send(Subject::Catalog, "b").await.unwrap();
        one.0.post(Subject::Catalog, "c");
        sleep(RENEWAL).await;
        let order = one.1.lock().unwrap().clone();
        assert_eq!(order.len(), 3);
        assert_eq!(*two.1.lock().unwrap(), order);
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_that_falls_behind_hears_of_the_gap() {
        let store = Arc::new(MemoryStore::new());
        let (node, heard) = node(&store).await;
        node.send(Subject::Catalog, "first").await.unwrap();
        hears(&heard, &["first"]).await;
        let flood = (0..=message::MOST).map(|_| node.state.append(0, Subject::Nodes, "")).collect();
        node.execute(flood).await.unwrap();
        node.send(Subject::Catalog, "last").await.unwrap();
        hears(&heard, &["first", "gap", "last"]).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_waits_until_all_others_have_read_its_messages_but_not_for_a_dead_one() {
        let store = Arc::new(MemoryStore::new());
        let (one, _) = node(&store).await;
        one.all_have_read(Duration::MAX).await.unwrap();
        let (two, heard) = node(&store).await;
        one.send(Subject::Catalog, "change").await.unwrap();
        let begin = Instant::now();
        one.all_have_read(Duration::from_secs(60)).await.unwrap();
        assert_eq!(*heard.lock().unwrap(), ["change"]);
        assert!(begin.elapsed() < RENEWAL);
        drop(two);
        one.all_have_read(Duration::from_secs(1)).await.unwrap();
        assert!(begin.elapsed() >= Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_handler_that_panics_does_not_keep_a_node_from_reading_further_messages() {
        let store = Arc::new(MemoryStore::new());
        let (node, heard) = node(&store).await;
        node.on(Subject::Tasks, |_| panic!("of a handler"));
        node.send(Subject::Tasks, "").await.unwrap();
        node.send(Subject::Catalog, "next").await.unwrap();
        hears(&heard, &["next"]).await;
    }

    #[tokio::test(start_paused = true)]
    async fn nodes_hear_at_once_of_a_node_that_leaves_and_later_of_one_that_dies() {
        let store = Arc::new(MemoryStore::new());
        let (one, heard) = node(&store).await;
        let (two, three) = (node(&store).await.0, node(&store).await.0);
        assert!(one.live_nodes().await.is_err());
        sleep(lease::LEASE).await;
        assert_eq!(one.live_nodes().await.unwrap().len(), 3);
        two.leave().await;
        hears(&heard, &["1 lost"]).await;
        let begin = Instant::now();
        let dead = three.id();
        drop(three);
        hears(&heard, &["1 lost", "1 lost"]).await;
        assert!(begin.elapsed() <= lease::LEASE + RENEWAL);
        assert!(!one.live_nodes().await.unwrap().contains(&dead));
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_about_nodes_that_is_unknown_is_no_departure() {
        let store = Arc::new(MemoryStore::new());
        let ((one, heard), (two, _)) = (node(&store).await, node(&store).await);
        two.send(Subject::Nodes, "a later kind of message").await.unwrap();
        two.send(Subject::Catalog, "next").await.unwrap();
        hears(&heard, &["next"]).await;
        assert!(!one.has_left(two.id()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_that_starts_slowly_has_a_lease_when_it_serves() {
        let store = Arc::new(MemoryStore::new());
        let (one, _) = node(&store).await;
        let two = ServerNode::join(store.clone()).await.unwrap();
        sleep(2 * lease::LEASE).await;
        assert!(!one.live_nodes().await.unwrap().contains(&two.id()));
        two.receive().await.unwrap();
        assert!(one.live_nodes().await.unwrap().contains(&two.id()));
    }
}
