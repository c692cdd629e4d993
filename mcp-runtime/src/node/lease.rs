//! Leases of nodes. A lease is an entry of an index, and expires unless its node renews it.

use std::{collections::BTreeSet, fmt, time::Duration};

use tokio::time::Instant;

use crate::{
    error::Result,
    random::random,
    storage::{Condition, Output, StoreOperation, Transaction},
};

/// Partition of the records that concern all nodes together, such as leases and messages.
pub(super) const PARTITION: &str = "nodes";

/// Index with the leases of the live nodes.
const LIVE: &str = "live";

/// Record with the id of the first node. If the record is missing or has another value than before, the store has lost its data.
const ORIGIN: &str = "origin";

/// Time after which the record [`ORIGIN`] expires, unless a node renews its lease.
const ORIGIN_TTL: Duration = Duration::from_secs(30 * 24 * 3600);

/// Record that nodes write to learn whether the store has space.
const SPACE: &str = "space";

/// Time after which a node that does not renew its lease counts as dead.
pub(super) const LEASE: Duration = Duration::from_secs(10);

/// Time between two renewals of a lease.
pub(super) const RENEWAL: Duration = Duration::from_secs(3);

/// Maximum number of nodes.
const MOST: usize = 1000;

/// Id of a node. Ids are random, so that no two processes ever have the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(u64);

impl NodeId {
    /// Generates a new id.
    ///
    /// # Errors
    /// Fails if the system has no random numbers.
    pub(super) fn new() -> Result<Self> {
        Ok(Self(u64::from_le_bytes(random()?)))
    }

    #[cfg(test)]
    pub(super) const fn of(number: u64) -> Self {
        Self(number)
    }

    /// Returns the first of 2^20 numbers that this node can use for streams and questions. Another node is unlikely to have the same range.
    /// All numbers are below 2^53, because larger integers are not exact in JavaScript.
    pub(crate) fn first_number(self) -> u64 {
        (self.0 & 0xffff_ffff) << 20
    }

    /// Returns whether the number can belong to the range of some node.
    #[cfg(feature = "http")]
    pub(crate) fn is_in_range(number: u64) -> bool {
        (1 << 20..1 << 52).contains(&number)
    }

    /// Parses the text that `Display` writes.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_hex = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = is_hex.then(|| u64::from_str_radix(text, 16).ok());
        number.flatten().map(Self)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The other nodes, as far as this node knows them.
#[derive(Default)]
pub(super) struct OtherNodes {
    /// Nodes that were live at the last renewal of the lease.
    live: BTreeSet<NodeId>,
    /// Nodes whose loss was reported. Without this set, a node that leaves would be reported twice: for its message, and for its missing lease.
    gone: BTreeSet<NodeId>,
    /// Nodes that have sent a message that they leave.
    left: BTreeSet<NodeId>,
    /// Value of the record [`ORIGIN`] at the last renewal.
    origin: Option<Vec<u8>>,
    /// Time of the last renewal of this node's own lease.
    renewed: Option<Instant>,
    /// Time until which a node without a lease may be live. After the store was unavailable or has lost its data, live nodes first have
    /// to renew their leases. A node that starts does not know whether this has just happened.
    uncertain_until: Option<Instant>,
    /// Whether the time is uncertain because the store was unavailable or has lost its data, and not because this node has just started.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP+SSE needs it"))]
    was_away: bool,
}

impl OtherNodes {
    /// Maximum number of nodes in `gone`, and in `left`.
    const MOST_GONE: usize = 10_000;

    /// Updates the list of live nodes. `own` is this node, and `found` is what the store held just before this renewal.
    ///
    /// If this node renews its lease late or for the first time, the store may have been unavailable, so that all leases have expired. If this
    /// node is not late but its lease is missing, or if the value of the record [`ORIGIN`] has changed, the store has lost its data. In all
    /// these cases no node counts as lost for the time of a lease, so that the other nodes can renew theirs.
    pub(super) fn renew(&mut self, own: NodeId, found: Found) -> Renewed {
        let Found { mut live, origin } = found;
        let now = Instant::now();
        let since = self.renewed.map(|at| now.duration_since(at));
        let is_late = since.is_some_and(|since| since > LEASE - RENEWAL);
        let lacks_own = live.insert(own) && since.is_some_and(|since| since < LEASE - RENEWAL);
        let has_reset = lacks_own || self.origin.is_some() && self.origin != origin;
        self.origin = origin;
        if has_reset || is_late || since.is_none() {
            self.uncertain_until = Some(now + LEASE);
            self.was_away = has_reset || is_late;
        }
        self.renewed = Some(now);
        self.gone.retain(|node| !live.contains(node));
        let lost = if self.uncertain_until().is_some() {
            self.live.extend(live);
            BTreeSet::new()
        } else {
            let before = std::mem::replace(&mut self.live, live);
            before.difference(&self.live).copied().collect()
        };
        Renewed { lost, has_reset, is_late, lacks_origin: self.origin.is_none() }
    }

    /// Returns the time until which this node cannot know which nodes are live. This is the case if this node has just started, or if the
    /// store was unavailable or has lost its data, and the other nodes may not have renewed their leases yet. It is also the case if this
    /// node has not renewed its own lease for so long that the store may be unavailable. Returns `None` if this node knows which nodes are
    /// live.
    pub(super) fn uncertain_until(&self) -> Option<Instant> {
        let now = Instant::now();
        let known = self.uncertain_until.filter(|until| now < *until);
        known.max(self.is_late(now).then_some(now + LEASE))
    }

    /// Returns whether records that other nodes renew may be missing: because the store is or was unavailable for so long that they may
    /// have expired, or because it has lost its data.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP+SSE needs it"))]
    pub(super) fn may_lack_records(&self) -> bool {
        self.is_late(Instant::now()) || self.was_away && self.uncertain_until().is_some()
    }

    fn is_late(&self, now: Instant) -> bool {
        self.renewed.is_some_and(|at| now - at > LEASE - RENEWAL)
    }

    /// Records that a node has sent a message that it leaves.
    pub(super) fn leave(&mut self, node: NodeId) {
        if self.left.len() >= Self::MOST_GONE {
            self.left.clear();
        }
        self.left.insert(node);
    }

    /// Returns whether the node has sent a message that it leaves. Such a node is certainly gone, and never returns.
    pub(super) fn has_left(&self, node: NodeId) -> bool {
        self.left.contains(&node)
    }

    /// Removes nodes, and returns those whose loss was not reported yet.
    pub(super) fn lose(&mut self, lost: BTreeSet<NodeId>) -> BTreeSet<NodeId> {
        self.live.retain(|node| !lost.contains(node));
        let new: BTreeSet<_> = lost.difference(&self.gone).copied().collect();
        if self.gone.len() + new.len() > Self::MOST_GONE {
            self.gone.clear();
        }
        self.gone.extend(&new);
        new
    }
}

/// What the store held before a renewal of a lease.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Nodes with a lease.
    pub(super) live: BTreeSet<NodeId>,
    /// Value of the record [`ORIGIN`].
    pub(super) origin: Option<Vec<u8>>,
}

impl Found {
    /// Reads the outputs of [`renewal`].
    pub(super) fn of(outputs: Vec<Output>) -> Self {
        let live = live_nodes(&outputs);
        let origin = outputs.into_iter().find_map(|output| match output {
            Output::Record(record) => record.map(|record| record.value),
            _ => None,
        });
        Self { live, origin }
    }
}

/// Result of a renewal of a lease.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Renewed {
    /// Nodes that have gone since the last renewal.
    pub(super) lost: BTreeSet<NodeId>,
    /// Whether the store has lost its data since the last renewal.
    pub(super) has_reset: bool,
    /// Whether this renewal came so late that records which nodes renew together with their leases may have expired.
    pub(super) is_late: bool,
    /// Whether the store has no record [`ORIGIN`].
    pub(super) lacks_origin: bool,
}

/// Returns the transaction that reads the leases of all nodes, and then renews the lease of `node`.
pub(super) fn renewal(node: NodeId) -> Transaction {
    let renewed = StoreOperation::enlist(LIVE, node.to_string(), 0, LEASE);
    let kept = StoreOperation::Touch { name: ORIGIN.to_owned(), ttl: ORIGIN_TTL };
    let origin = StoreOperation::get(ORIGIN);
    Transaction::on(PARTITION).then(list()).then(renewed).then(origin).then(kept)
}

/// Returns the operation that writes the record [`ORIGIN`], unless there is one.
pub(super) fn begin(node: NodeId) -> StoreOperation {
    StoreOperation::put(ORIGIN, node.to_string(), ORIGIN_TTL, Condition::Absent)
}

/// Returns an operation that fails if the store has no space. All nodes write the same record.
pub(super) fn space() -> StoreOperation {
    StoreOperation::put(SPACE, "", LEASE, Condition::Any)
}

/// Returns the operation that reads the leases of all nodes.
pub(super) fn list() -> StoreOperation {
    StoreOperation::list(LIVE, None, MOST)
}

/// Returns the operation that ends the lease of a node.
pub(super) fn end(node: NodeId) -> StoreOperation {
    StoreOperation::delist(LIVE, node.to_string())
}

/// Finds the output of [`list`] among these outputs, and returns the nodes that have a lease.
pub(super) fn live_nodes(outputs: &[Output]) -> BTreeSet<NodeId> {
    let entries = outputs.iter().find_map(|output| match output {
        Output::Entries(entries) => Some(entries),
        _ => None,
    });
    entries.into_iter().flatten().filter_map(|entry| NodeId::parse(&entry.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{MemoryStore, Store as _};

    async fn renew(store: &MemoryStore, node: u64) -> Vec<u64> {
        let transaction = renewal(NodeId::of(node)).then(list());
        let results = store.execute(vec![transaction]).await.unwrap();
        live_nodes(&results[0].as_ref().unwrap()[4..]).into_iter().map(|node| node.0).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_is_live_until_its_lease_ends_or_is_ended() {
        let store = MemoryStore::new();
        assert_eq!(renew(&store, 1).await, [1]);
        assert_eq!(renew(&store, 2).await, [1, 2]);
        tokio::time::advance(LEASE - RENEWAL).await;
        assert_eq!(renew(&store, 2).await, [1, 2]);
        tokio::time::advance(RENEWAL + Duration::from_millis(1)).await;
        assert_eq!(renew(&store, 3).await, [2, 3]);
        let left = Transaction::on(PARTITION).then(end(NodeId::of(2)));
        store.execute(vec![left]).await.unwrap()[0].as_ref().unwrap();
        assert_eq!(renew(&store, 3).await, [3]);
    }

    #[tokio::test(start_paused = true)]
    async fn no_node_counts_as_dead_while_the_others_renew_their_leases_after_an_outage() {
        let mut others = OtherNodes::default();
        assert_eq!(others.renew(NodeId::of(1), found(&[1, 2, 3])), lost(&[]));
        settle(&mut others, &[1, 2, 3]).await;
        tokio::time::advance(LEASE - RENEWAL).await;
        assert!(others.uncertain_until().is_none());
        tokio::time::advance(RENEWAL).await;
        // The store may have been away since the last renewal.
        assert!(others.uncertain_until().is_some());
        assert!(others.may_lack_records());
        let late = Renewed { is_late: true, ..lost(&[]) };
        assert_eq!(others.renew(NodeId::of(1), found(&[])), late);
        assert!(others.uncertain_until().is_some());
        tokio::time::advance(RENEWAL).await;
        assert_eq!(others.renew(NodeId::of(1), found(&[1, 2])), lost(&[]));
        for _ in 0..2 {
            tokio::time::advance(RENEWAL).await;
            assert_eq!(others.renew(NodeId::of(1), found(&[1, 2])), lost(&[]));
        }
        tokio::time::advance(RENEWAL).await;
        assert_eq!(others.renew(NodeId::of(1), found(&[1, 2])), lost(&[3]));
        assert!(others.uncertain_until().is_none());
    }

    /// Lets a node that has started renew its lease until it knows which nodes are live.
    async fn settle(others: &mut OtherNodes, live: &[u64]) {
        for _ in 0..4 {
            tokio::time::advance(RENEWAL).await;
            assert_eq!(others.renew(NodeId::of(1), found(live)), lost(&[]));
        }
    }

    fn ids(numbers: &[u64]) -> BTreeSet<NodeId> {
        numbers.iter().map(|number| NodeId::of(*number)).collect()
    }

    fn found(live: &[u64]) -> Found {
        Found { live: ids(live), origin: Some(b"1".to_vec()) }
    }

    fn lost(numbers: &[u64]) -> Renewed {
        Renewed { lost: ids(numbers), ..Renewed::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn no_node_counts_as_dead_because_the_store_has_lost_its_data() {
        let mut others = OtherNodes::default();
        for known in [&[2, 3][..], &[1, 2, 3], &[1, 2, 3], &[1, 2, 3], &[1, 2, 3]] {
            assert_eq!(others.renew(NodeId::of(1), found(known)), lost(&[]));
            tokio::time::advance(RENEWAL).await;
        }
        let reset = Renewed { has_reset: true, ..lost(&[]) };
        assert_eq!(others.renew(NodeId::of(1), found(&[2])), reset);
        for _ in 0..3 {
            assert!(others.uncertain_until().is_some());
            tokio::time::advance(RENEWAL).await;
            assert_eq!(others.renew(NodeId::of(1), found(&[1, 2])), lost(&[]));
        }
        tokio::time::advance(RENEWAL).await;
        assert_eq!(others.renew(NodeId::of(1), found(&[1, 2])), lost(&[3]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_that_starts_counts_no_node_as_dead_before_live_nodes_have_renewed_their_leases()
    {
        let mut others = OtherNodes::default();
        others.renew(NodeId::of(1), found(&[]));
        assert!(others.uncertain_until().is_some());
        assert!(!others.may_lack_records());
        settle(&mut others, &[1]).await;
        assert!(others.uncertain_until().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_loss_of_data_is_noticed_however_long_the_store_was_away() {
        let mut others = OtherNodes::default();
        let empty = Renewed { lacks_origin: true, ..lost(&[]) };
        assert_eq!(others.renew(NodeId::of(1), Found::default()), empty);
        tokio::time::advance(RENEWAL).await;
        assert_eq!(others.renew(NodeId::of(1), found(&[1])), lost(&[]));
        let reset = Renewed { has_reset: true, is_late: true, ..lost(&[]) };
        tokio::time::advance(6 * LEASE).await;
        // Another node has written the record already.
        let other = Found { live: ids(&[2]), origin: Some(b"2".to_vec()) };
        assert_eq!(others.renew(NodeId::of(1), other), reset);
        tokio::time::advance(6 * LEASE).await;
        let renewed = others.renew(NodeId::of(1), Found::default());
        assert_eq!(renewed, Renewed { lacks_origin: true, ..reset });
    }

    #[test]
    fn an_id_is_read_as_it_was_written() {
        let id = NodeId::new().unwrap();
        assert_eq!(NodeId::parse(&id.to_string()), Some(id));
        for text in ["", "1", "+000000000000001", "00000000000000000"] {
            assert_eq!(NodeId::parse(text), None, "{text}");
        }
    }
}
