//! Barriers. At a barrier, a node waits until all other nodes have read the log of messages up to a certain message.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

use super::lease::NodeId;

/// Text of a message about a barrier.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BarrierMessage {
    /// The sender waits until the other nodes have read this message. The number is unique for the sender.
    Asked(u64),
    /// The sender has read the message of this node with this number.
    Read(NodeId, u64),
}

impl BarrierMessage {
    pub(super) fn write(&self) -> String {
        match self {
            Self::Asked(number) => format!("asked {number}"),
            Self::Read(node, number) => format!("read {node} {number}"),
        }
    }

    /// Reads what [`write`](Self::write) has written. Returns `None` for any other text.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        match (words.next()?, words.next()?, words.next()) {
            ("asked", number, None) => Some(Self::Asked(number.parse().ok()?)),
            ("read", node, Some(number)) => {
                Some(Self::Read(NodeId::parse(node)?, number.parse().ok()?))
            }
            _ => None,
        }
    }
}

/// Barrier at which this node waits: a message that other nodes have to read.
struct OpenBarrier {
    /// Nodes that have read the message.
    passed: BTreeSet<NodeId>,
    /// Nodes that have to read the message. `None` until they are known.
    needed: Option<BTreeSet<NodeId>>,
    /// Reports that all of these nodes have read the message.
    done: Option<oneshot::Sender<()>>,
}

impl OpenBarrier {
    fn check(&mut self) {
        let is_passed = self.needed.as_ref().is_some_and(|needed| needed.is_subset(&self.passed));
        if is_passed && let Some(done) = self.done.take() {
            let _ = done.send(());
        }
    }
}

/// Number of the last barrier, and the barriers at which this node waits, by number.
#[derive(Default)]
pub(super) struct OpenBarriers(Mutex<(u64, HashMap<u64, OpenBarrier>)>);

#[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only sessions over HTTP wait"))]
impl OpenBarriers {
    fn locked(&self) -> MutexGuard<'_, (u64, HashMap<u64, OpenBarrier>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a barrier. Returns its number, and a receiver that completes when all nodes have passed the barrier.
    pub(super) fn open(&self) -> (u64, oneshot::Receiver<()>) {
        let (done, receiver) = oneshot::channel();
        let mut barriers = self.locked();
        barriers.0 += 1;
        let number = barriers.0;
        let open = OpenBarrier { passed: BTreeSet::new(), needed: None, done: Some(done) };
        barriers.1.insert(number, open);
        (number, receiver)
    }

    /// Records which nodes have to pass a barrier.
    pub(super) fn need(&self, number: u64, nodes: BTreeSet<NodeId>) {
        if let Some(open) = self.locked().1.get_mut(&number) {
            open.needed = Some(nodes);
            open.check();
        }
    }

    /// Records that a node has read the message of a barrier.
    pub(super) fn pass(&self, number: u64, node: NodeId) {
        if let Some(open) = self.locked().1.get_mut(&number) {
            open.passed.insert(node);
            open.check();
        }
    }

    /// Removes a barrier at which this node waits no more.
    pub(super) fn close(&self, number: u64) {
        self.locked().1.remove(&number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_about_a_barrier_is_read_as_it_was_written() {
        for message in [BarrierMessage::Asked(7), BarrierMessage::Read(NodeId::of(9), 8)] {
            assert_eq!(BarrierMessage::read(&message.write()), Some(message));
        }
        for text in ["", "asked", "asked x", "read 7", "read x 7", "other 7"] {
            assert_eq!(BarrierMessage::read(text), None, "{text}");
        }
    }
}
