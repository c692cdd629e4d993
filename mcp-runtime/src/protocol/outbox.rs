use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use super::channel::ProgressSlot;
use crate::wire::{Id, IdBuf};

/// Messages on their way to the peer, one line each. Encoding writes straight into its buffer.
///
/// It belongs to one connection, so nobody but that connection's own calls waits for its lock.
#[derive(Default)]
pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    filled: Notify,
}

#[derive(Default)]
struct Queue {
    bytes: Vec<u8>,
    /// What waits until the reader has caught up, each thing once: reports are merged into their newest,
    /// events that say the same into one.
    reports: Vec<Arc<ProgressSlot>>,
    events: Vec<Waiting>,
}

/// An event for a slow reader.
struct Waiting {
    /// The listen stream it belongs to, if any.
    stream: Option<IdBuf>,
    message: Vec<u8>,
}

impl Outbox {
    /// From here on the reader counts as slow, and what can be merged is merged.
    const SLOW: usize = 64 << 10;
    /// Log messages beyond this are dropped.
    const FULL: usize = 1 << 20;

    fn queue(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds one message, written without its newline.
    pub(crate) fn push(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut queue = self.queue();
        queue.message(write);
        drop(queue);
        self.filled.notify_one();
    }

    /// Adds the last message of a call: what it reported before comes before it.
    pub(crate) fn push_last(
        &self,
        slot: Option<&Arc<ProgressSlot>>,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let mut queue = self.queue();
        if let Some(slot) = slot {
            queue.reports.retain(|it| !Arc::ptr_eq(it, slot));
            slot.write_pending(&mut queue.bytes);
        }
        queue.message(write);
        drop(queue);
        self.filled.notify_one();
    }

    /// A report: at once while the reader keeps up, else merged with the later ones.
    pub(super) fn push_report(&self, slot: &Arc<ProgressSlot>) {
        let mut queue = self.queue();
        if queue.bytes.len() < Self::SLOW {
            slot.write_pending(&mut queue.bytes);
        } else if !queue.reports.iter().any(|it| Arc::ptr_eq(it, slot)) {
            queue.reports.push(slot.clone());
        }
        drop(queue);
        self.filled.notify_one();
    }

    /// Drops what a call reported and has not gone out.
    pub(super) fn forget(&self, slot: &Arc<ProgressSlot>) {
        self.queue().reports.retain(|it| !Arc::ptr_eq(it, slot));
    }

    /// An event that is worth saying once: while the reader is slow, repetitions are left out.
    pub(super) fn push_event(&self, stream: Option<&IdBuf>, message: Vec<u8>) {
        let mut queue = self.queue();
        if queue.bytes.len() < Self::SLOW {
            queue.message(|out| out.extend_from_slice(&message));
        } else if !queue.events.iter().any(|it| it.message == message) {
            queue.events.push(Waiting { stream: stream.cloned(), message });
        }
        drop(queue);
        self.filled.notify_one();
    }

    /// Adds one message that no event may follow which was there before it.
    pub(super) fn push_after_events(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut queue = self.queue();
        queue.write_events();
        queue.message(write);
        drop(queue);
        self.filled.notify_one();
    }

    /// Drops the events of a listen stream that have not gone out.
    pub(super) fn forget_events(&self, stream: Id<'_>) {
        self.queue().events.retain(|it| it.stream.as_ref().map(IdBuf::as_id) != Some(stream));
    }

    /// A log message, or nothing when the reader is far behind.
    pub(super) fn push_log(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut queue = self.queue();
        if queue.bytes.len() < Self::FULL {
            queue.message(write);
        }
        drop(queue);
        self.filled.notify_one();
    }

    /// Moves everything that is ready into `into`, which must be empty. Returns whether there was anything.
    pub(crate) fn take(&self, into: &mut Vec<u8>) -> bool {
        let mut queue = self.queue();
        if queue.bytes.is_empty() {
            return false;
        }
        std::mem::swap(&mut queue.bytes, into);
        let reports = std::mem::take(&mut queue.reports);
        for slot in reports {
            slot.write_pending(&mut queue.bytes);
        }
        queue.write_events();
        true
    }

    /// How many bytes wait. A transport stops reading while this is large.
    pub(crate) fn len(&self) -> usize {
        self.queue().bytes.len()
    }

    /// Ends a wait though nothing was added.
    pub(crate) fn wake(&self) {
        self.filled.notify_one();
    }

    /// Waits until something was added since the last wait.
    pub(crate) async fn filled(&self) {
        self.filled.notified().await;
    }
}

impl Queue {
    fn write_events(&mut self) {
        for event in std::mem::take(&mut self.events) {
            self.message(|out| out.extend_from_slice(&event.message));
        }
    }

    fn message(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.bytes.len();
        write(&mut self.bytes);
        if self.bytes.len() > before {
            self.bytes.push(b'\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(outbox: &Outbox) -> String {
        let mut all = Vec::new();
        let mut part = Vec::new();
        while outbox.take(&mut part) {
            all.append(&mut part);
        }
        String::from_utf8(all).unwrap()
    }

    #[test]
    fn repeated_events_are_merged_only_under_a_slow_reader() {
        let outbox = Outbox::default();
        outbox.push_event(None, b"a".to_vec());
        outbox.push_event(None, b"a".to_vec());
        assert_eq!(drain(&outbox), "a\na\n");
        outbox.push(|out| out.resize(Outbox::SLOW, b'x'));
        for _ in 0..1000 {
            outbox.push_event(None, b"a".to_vec());
            outbox.push_event(None, b"b".to_vec());
        }
        assert!(drain(&outbox).ends_with("x\na\nb\n"));
    }

    #[test]
    fn logs_are_dropped_when_nobody_reads() {
        let outbox = Outbox::default();
        for _ in 0..10_000 {
            outbox.push_log(|out| out.extend_from_slice(&[b'x'; 1000]));
        }
        assert!(outbox.len() < Outbox::FULL + 2000);
    }
}
