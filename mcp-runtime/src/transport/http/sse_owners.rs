//! Records that say which node has the stream of a session of protocol revision 2024-11-05. They are in a store that several nodes share.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, timeout},
};

use super::session_table::SessionId;
use crate::{
    node::{NodeId, ServerNode},
    storage::{self, Condition, Output, Record, StoreError, StoreOperation, Transaction},
};

/// Name of the record.
const OWNER: &str = "sse";

/// Time after which a record expires, unless the node of the stream renews it.
const KEPT: Duration = Duration::from_secs(60);

/// Time between two renewals of the records of a node.
const RENEWAL: Duration = Duration::from_secs(20);

/// Time between two checks whether the records have to be renewed. After the store was unavailable, they are renewed early, because the
/// store may have lost them.
const LOOK: Duration = Duration::from_secs(3);

/// Time for which a node that stops waits until its records are removed.
const LAST: Duration = Duration::from_secs(1);

/// Maximum number of records that are written at once.
const BATCH: usize = 256;

/// Nodes that have the streams of protocol revision 2024-11-05, and the records of this node.
pub(super) struct SseOwners {
    node: Arc<ServerNode>,
    /// Streams of this node that have ended. Set by [`keep`](Self::keep).
    endings: OnceLock<mpsc::UnboundedSender<Ending>>,
    /// Number of messages that this node has passed on.
    messages: AtomicU64,
}

/// Node that has the stream of a session.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SseOwner {
    pub(super) node: NodeId,
    /// Name of the principal to whom the session belongs.
    pub(super) principal: String,
}

/// End of a stream, or of the node.
enum Ending {
    Stream(SessionId),
    /// The node stops, and tells the sender when its records are removed.
    Node(oneshot::Sender<()>),
}

/// Stream of this node. Dropping the value removes the record of the stream.
pub(super) struct OwnedStream {
    id: SessionId,
    endings: mpsc::UnboundedSender<Ending>,
}

impl Drop for OwnedStream {
    fn drop(&mut self) {
        let _ = self.endings.send(Ending::Stream(self.id));
    }
}

impl SseOwners {
    pub(super) fn new(node: Arc<ServerNode>) -> Self {
        Self { node, endings: OnceLock::new(), messages: AtomicU64::new(0) }
    }

    /// Returns a number that no other message of this node has.
    pub(super) fn next_message(&self) -> u64 {
        self.messages.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns a guard that removes the record of a stream of this node when the stream ends.
    pub(super) fn own(&self, id: SessionId) -> Option<OwnedStream> {
        self.endings.get().map(|endings| OwnedStream { id, endings: endings.clone() })
    }

    /// Records that this node has the stream of a session, which belongs to this principal.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn add(&self, id: &SessionId, principal: &str) -> Result<(), StoreError> {
        let added = storage::execute(&**self.node.store(), vec![self.putting(id, principal)]);
        added.await.map(drop)
    }

    fn putting(&self, id: &SessionId, principal: &str) -> Transaction {
        let owner = format!("{} {principal}", self.node.id());
        let put = StoreOperation::put(OWNER, owner, KEPT, Condition::Any);
        Transaction::on(id.partition()).then(put)
    }

    /// Returns the node that has the stream of a session. Returns `None` if there is no such session, or if its node has died.
    ///
    /// # Errors
    /// Fails if the store is unavailable, or was away for so long that the record may have expired.
    pub(super) async fn find(&self, id: &SessionId) -> Result<Option<SseOwner>, StoreError> {
        let read = Transaction::on(id.partition()).then(StoreOperation::get(OWNER));
        let results = storage::execute(&**self.node.store(), vec![read, ServerNode::listing()]);
        let [Ok(read), Ok(listed)] = &results.await?[..] else {
            return Err(StoreError::failed("the store has rejected a read"));
        };
        let owner = match read.first() {
            Some(Output::Record(Some(record))) => owner_in(record),
            _ => None,
        };
        match owner {
            None => self.node.has_renewed_records().map(|()| None),
            // A live node is in the list of leases, even if the store made the list before it read the record: the node took its lease before
            // it wrote the record, and told the client the id of the session only after that.
            Some(owner) => Ok(self.node.is_live(owner.node, listed)?.then_some(owner)),
        }
    }

    /// Renews and removes the records of this node, until `streams` returns `None` or the node stops. `streams` returns the open streams of
    /// this node, each with the principal to whom its session belongs.
    pub(super) fn keep<F>(self: &Arc<Self>, streams: F) -> impl Future<Output = ()> + Send + use<F>
    where
        F: Fn() -> Option<Vec<(SessionId, String)>> + Send,
    {
        let (sender, endings) = mpsc::unbounded_channel();
        let _ = self.endings.set(sender);
        self.clone().keep_all(streams, endings)
    }

    async fn keep_all(
        self: Arc<Self>,
        streams: impl Fn() -> Option<Vec<(SessionId, String)>> + Send,
        mut endings: mpsc::UnboundedReceiver<Ending>,
    ) {
        let mut renewed = Instant::now();
        loop {
            // One task renews and removes, so that no record of an ended stream is written again.
            let mut ended = Vec::new();
            let _ = timeout(LOOK, endings.recv_many(&mut ended, BATCH)).await;
            let Some(open) = streams() else { return };
            let (mut removals, mut stopped) = (Vec::new(), None);
            for ending in ended {
                match ending {
                    Ending::Stream(id) => removals.push(removing(&id)),
                    Ending::Node(told) => stopped = Some(told),
                }
            }
            if let Some(told) = stopped {
                removals.extend(open.iter().map(|(id, _)| removing(id)));
                self.write(removals).await;
                let _ = told.send(());
                return;
            }
            self.write(removals).await;
            let is_due = renewed.elapsed() >= RENEWAL || self.node.has_renewed_records().is_err();
            let renewals = open.iter().map(|(id, principal)| self.putting(id, principal));
            if is_due && self.write(renewals.collect()).await {
                renewed = Instant::now();
            }
        }
    }

    /// Executes transactions, and returns whether the store has answered. If it has not answered, records that should have been removed stay
    /// until they expire.
    async fn write(&self, transactions: Vec<Transaction>) -> bool {
        for some in transactions.chunks(BATCH) {
            if let Err(why) = storage::execute(&**self.node.store(), some.to_vec()).await {
                tracing::debug!("the records of streams have to wait: {why}");
                return false;
            }
        }
        true
    }

    /// Removes all records of this node, which stops.
    pub(super) async fn end(&self) {
        let Some(endings) = self.endings.get() else { return };
        let (told, ended) = oneshot::channel();
        if endings.send(Ending::Node(told)).is_ok() {
            let _ = timeout(LAST, ended).await;
        }
    }
}

fn removing(id: &SessionId) -> Transaction {
    Transaction::on(id.partition()).then(StoreOperation::remove(OWNER, Condition::Any))
}

/// Reads a record. Returns `None` if it has another form, for example because a newer version of the server has written it.
fn owner_in(record: &Record) -> Option<SseOwner> {
    let (node, principal) = str::from_utf8(&record.value).ok()?.split_once(' ')?;
    Some(SseOwner { node: NodeId::parse(node)?, principal: principal.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::MemoryStore;

    async fn owners(store: &Arc<MemoryStore>) -> Arc<SseOwners> {
        let node = ServerNode::join(store.clone()).await.unwrap();
        node.receive().await.unwrap();
        Arc::new(SseOwners::new(Arc::new(node)))
    }

    #[tokio::test(start_paused = true)]
    async fn a_record_is_kept_while_its_stream_is_open_and_its_node_lives() {
        let store = Arc::new(MemoryStore::new().shared());
        let (one, two) = (owners(&store).await, owners(&store).await);
        let id = SessionId::unguessable().unwrap();
        let open = Arc::new(std::sync::Mutex::new(vec![(id, "ada lovelace".to_owned())]));
        let streams = open.clone();
        let keeping = tokio::spawn(one.keep(move || Some(streams.lock().unwrap().clone())));
        assert_eq!(two.find(&id).await.unwrap(), None);
        one.add(&id, "ada lovelace").await.unwrap();
        let owner = SseOwner { node: one.node.id(), principal: "ada lovelace".to_owned() };
        for _ in 0..3 {
            tokio::time::sleep(KEPT).await;
            assert_eq!(two.find(&id).await.unwrap().as_ref(), Some(&owner));
        }
        let owned = one.own(id).unwrap();
        open.lock().unwrap().clear();
        drop(owned);
        while two.find(&id).await.unwrap().is_some() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // A node that dies renews neither its lease nor its records.
        one.add(&id, "").await.unwrap();
        keeping.abort();
        let _ = keeping.await;
        drop(one);
        tokio::time::sleep(KEPT / 2).await;
        assert_eq!(two.find(&id).await.unwrap(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_that_stops_removes_its_records() {
        let store = Arc::new(MemoryStore::new().shared());
        let (one, two) = (owners(&store).await, owners(&store).await);
        one.end().await;
        let id = SessionId::unguessable().unwrap();
        let keeping = tokio::spawn(one.keep(move || Some(vec![(id, String::new())])));
        one.add(&id, "").await.unwrap();
        assert!(two.find(&id).await.unwrap().is_some());
        one.end().await;
        keeping.await.unwrap();
        assert!(two.find(&id).await.unwrap().is_none());
        one.end().await;
    }
}
