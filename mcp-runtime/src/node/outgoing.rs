//! Messages of this node that are not in the log yet.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::Notify;

use crate::storage::StoreOperation;

/// Maximum number of messages that wait while the store is unavailable.
const MOST: usize = 4096;

/// Maximum number of messages in a transaction.
const BATCH: usize = 256;

/// Queue of messages. If the queue is full, the oldest messages are dropped. Otherwise the queue would grow without bound while the store
/// is unavailable.
#[derive(Default)]
pub(super) struct Outgoing {
    queue: Mutex<Queue>,
    arrived: Notify,
    /// Number of messages that were added and are not stored yet.
    unsent: AtomicUsize,
}

#[derive(Default)]
struct Queue {
    /// For each message, the operations that store it.
    messages: VecDeque<Vec<StoreOperation>>,
    /// Number of the last message that was added.
    last: u64,
    dropped: u64,
}

/// Messages that are stored together.
pub(super) struct Batch {
    pub(super) messages: Vec<Vec<StoreOperation>>,
    /// Number of messages that were dropped before this batch.
    pub(super) dropped: u64,
}

impl Outgoing {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message at the end of the queue. `message` gets the number of the message. Messages are stored in the order of their numbers,
    /// so a reader recognizes a message that was stored twice.
    pub(super) fn push(&self, message: impl FnOnce(u64) -> Vec<StoreOperation>) {
        let mut queue = self.queue();
        queue.last += 1;
        let message = message(queue.last);
        queue.messages.push_back(message);
        self.unsent.fetch_add(1, Ordering::Relaxed);
        self.unsent.fetch_sub(queue.trim(), Ordering::Relaxed);
        drop(queue);
        self.arrived.notify_one();
    }

    /// Waits for messages, and takes them out of the queue.
    pub(super) async fn next(&self) -> Batch {
        loop {
            if let Some(batch) = self.take() {
                return batch;
            }
            self.arrived.notified().await;
        }
    }

    fn take(&self) -> Option<Batch> {
        let mut queue = self.queue();
        let count = queue.messages.len().min(BATCH);
        let messages: Vec<_> = queue.messages.drain(..count).collect();
        let dropped = std::mem::take(&mut queue.dropped);
        (!messages.is_empty()).then_some(Batch { messages, dropped })
    }

    /// Records that a batch is stored.
    pub(super) fn stored(&self, batch: &Batch) {
        self.unsent.fetch_sub(batch.messages.len(), Ordering::Relaxed);
    }

    /// Returns whether all messages are stored.
    pub(super) fn is_sent(&self) -> bool {
        self.unsent.load(Ordering::Relaxed) == 0
    }

    /// Puts a batch that could not be stored back to the front of the queue.
    pub(super) fn put_back(&self, batch: Batch) {
        let mut queue = self.queue();
        for message in batch.messages.into_iter().rev() {
            queue.messages.push_front(message);
        }
        queue.dropped += batch.dropped;
        self.unsent.fetch_sub(queue.trim(), Ordering::Relaxed);
        drop(queue);
        self.arrived.notify_one();
    }
}

impl Queue {
    /// Drops the oldest messages beyond the maximum, and returns their number.
    fn trim(&mut self) -> usize {
        let excess = self.messages.len().saturating_sub(MOST);
        self.messages.drain(..excess);
        self.dropped += excess as u64;
        excess
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(name: usize) -> Vec<StoreOperation> {
        vec![StoreOperation::get(name.to_string())]
    }

    #[tokio::test]
    async fn messages_keep_their_order_even_if_a_batch_comes_back() {
        let outgoing = Outgoing::default();
        (0..BATCH + 1).for_each(|name| outgoing.push(|_| message(name)));
        let first = outgoing.next().await;
        assert_eq!(first.messages.len(), BATCH);
        outgoing.put_back(first);
        let again = outgoing.next().await;
        assert_eq!((again.dropped, &again.messages[0]), (0, &message(0)));
        let rest = outgoing.next().await;
        assert_eq!(rest.messages, [message(BATCH)]);
    }

    #[tokio::test]
    async fn a_full_queue_drops_the_oldest_messages_and_counts_them() {
        let outgoing = Outgoing::default();
        (0..MOST + 3).for_each(|name| outgoing.push(|_| message(name)));
        let batch = outgoing.next().await;
        assert_eq!((batch.dropped, &batch.messages[0]), (3, &message(3)));
    }
}
