//! Leases of nodes: an entry of an index that expires, unless its node renews it.

use std::{collections::BTreeSet, fmt, time::Duration};

use tokio::time::Instant;

use crate::{
    error::Result,
    random::random,
    storage::{Output, StoreOperation, Transaction},
};

/// Partition of everything that concerns all nodes together.
pub(super) const PARTITION: &str = "nodes";

/// Index with the leases of the live nodes.
const LIVE: &str = "live";

/// Time after which a node that does not renew its lease counts as dead.
pub(super) const LEASE: Duration = Duration::from_secs(10);

/// Time between two renewals of a lease.
pub(super) const RENEWAL: Duration = Duration::from_secs(3);

/// Maximum number of nodes.
const MOST: usize = 1000;

/// Id of a node, which is random, so that no two processes ever have the same id.
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

    /// Returns the first number of a range of 2^20. Another node is unlikely to have the same range. All numbers are below 2^53, up to which
    /// JavaScript has exact integers.
    pub(crate) fn first_number(self) -> u64 {
        (self.0 & 0xffff_ffff) << 20
    }

    /// Returns whether a number can be in the range of a node.
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

/// Nodes, as this node knows them.
#[derive(Default)]
pub(super) struct OtherNodes {
    /// Nodes that were live at the last renewal of the lease.
    live: BTreeSet<NodeId>,
    /// Nodes whose loss was reported. The loss of a node that leaves is seen twice: in its message, and in the list of leases.
    gone: BTreeSet<NodeId>,
    /// Time of the last renewal of this node's own lease.
    renewed: Option<Instant>,
    /// Time until which leases that are missing mean nothing, because the store was away and all leases may have expired.
    uncertain_until: Option<Instant>,
}

impl OtherNodes {
    /// Maximum number of nodes in `gone`.
    const MOST_GONE: usize = 10_000;

    /// Takes over the leases that a renewal of `own` has read before it took effect.
    ///
    /// If this node was late, the store may have been away, so that all leases have expired. If this node was not late and its lease is missing
    /// nevertheless, the store has lost its data. The other nodes then have the time of a lease to renew theirs.
    pub(super) fn renew(&mut self, own: NodeId, mut live: BTreeSet<NodeId>) -> Renewed {
        let now = Instant::now();
        let since = self.renewed.map(|at| now.duration_since(at));
        let has_reset = live.insert(own) && since.is_some_and(|since| since < LEASE - RENEWAL);
        if has_reset || since.is_some_and(|since| since > LEASE - RENEWAL) {
            self.uncertain_until = Some(now + LEASE);
        }
        self.renewed = Some(now);
        self.gone.retain(|node| !live.contains(node));
        if self.is_uncertain() {
            self.live.extend(live);
            return Renewed { lost: BTreeSet::new(), has_reset };
        }
        let lost = self.live.difference(&live).copied().collect();
        self.live = live;
        Renewed { lost, has_reset }
    }

    /// Returns whether it is not known which nodes are live: the store was away, and the nodes have not renewed their leases yet, or this node
    /// itself has not for so long that the store may have been away.
    pub(super) fn is_uncertain(&self) -> bool {
        let is_late = self.renewed.is_some_and(|at| at.elapsed() > LEASE - RENEWAL);
        is_late || self.uncertain_until.is_some_and(|until| Instant::now() < until)
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

/// Result of a renewal of a lease.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Renewed {
    /// Nodes that have gone since the last renewal.
    pub(super) lost: BTreeSet<NodeId>,
    /// Whether the store has lost its data since the last renewal.
    pub(super) has_reset: bool,
}

/// Returns the transaction that reads the leases of all nodes, and renews that of a node.
pub(super) fn renewal(node: NodeId) -> Transaction {
    let renewed = StoreOperation::enlist(LIVE, node.to_string(), 0, LEASE);
    Transaction::on(PARTITION).then(list()).then(renewed)
}

/// Returns the operation that reads the leases of all nodes.
pub(super) fn list() -> StoreOperation {
    StoreOperation::list(LIVE, None, MOST)
}

/// Returns the operation that ends the lease of a node.
pub(super) fn end(node: NodeId) -> StoreOperation {
    StoreOperation::delist(LIVE, node.to_string())
}

/// Returns the nodes with a lease, from the output of [`list`] among these outputs.
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
        live_nodes(&results[0].as_ref().unwrap()[2..]).into_iter().map(|node| node.0).collect()
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
        assert_eq!(others.renew(NodeId::of(1), ids(&[1, 2, 3])), lost(&[]));
        tokio::time::advance(LEASE - RENEWAL).await;
        assert!(!others.is_uncertain());
        tokio::time::advance(RENEWAL).await;
        // The store may have been away since the last renewal.
        assert!(others.is_uncertain());
        assert_eq!(others.renew(NodeId::of(1), ids(&[])), lost(&[]));
        assert!(others.is_uncertain());
        tokio::time::advance(RENEWAL).await;
        assert_eq!(others.renew(NodeId::of(1), ids(&[1, 2])), lost(&[]));
        for _ in 0..2 {
            tokio::time::advance(RENEWAL).await;
            assert_eq!(others.renew(NodeId::of(1), ids(&[1, 2])), lost(&[]));
        }
        tokio::time::advance(RENEWAL).await;
        assert_eq!(others.renew(NodeId::of(1), ids(&[1, 2])), lost(&[3]));
        assert!(!others.is_uncertain());
    }

    fn ids(numbers: &[u64]) -> BTreeSet<NodeId> {
        numbers.iter().map(|number| NodeId::of(*number)).collect()
    }

    fn lost(numbers: &[u64]) -> Renewed {
        Renewed { lost: ids(numbers), has_reset: false }
    }

    #[tokio::test(start_paused = true)]
    async fn no_node_counts_as_dead_because_the_store_has_lost_its_data() {
        let mut others = OtherNodes::default();
        assert_eq!(others.renew(NodeId::of(1), ids(&[2, 3])), lost(&[]));
        tokio::time::advance(RENEWAL).await;
        assert_eq!(others.renew(NodeId::of(1), ids(&[1, 2, 3])), lost(&[]));
        tokio::time::advance(RENEWAL).await;
        let reset = Renewed { lost: ids(&[]), has_reset: true };
        assert_eq!(others.renew(NodeId::of(1), ids(&[2])), reset);
        for _ in 0..3 {
            assert!(others.is_uncertain());
            tokio::time::advance(RENEWAL).await;
            assert_eq!(others.renew(NodeId::of(1), ids(&[1, 2])), lost(&[]));
        }
        tokio::time::advance(RENEWAL).await;
        assert_eq!(others.renew(NodeId::of(1), ids(&[1, 2])), lost(&[3]));
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
