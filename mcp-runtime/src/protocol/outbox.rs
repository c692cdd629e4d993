use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Waker},
    time::Duration,
};

use super::channel::ProgressSlot;
use crate::wire::{Id, IdBuf};

/// Messages on their way to the peer, one line each. Encoding writes straight into its buffer.
///
/// It belongs to one connection, or to one stream of an HTTP session, so nobody but its own calls waits for its lock.
/// One reader empties it.
#[derive(Default)]
pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    /// Those who may still add something.
    holds: AtomicUsize,
}

#[derive(Default)]
struct Queue {
    bytes: Vec<u8>,
    reader: Option<Waker>,
    /// Nobody reads now, and perhaps nobody ever will: how many bytes wait at most.
    unread: Option<usize>,
    /// More than that came.
    has_lost: bool,
    /// The answer says that the client cannot do what the call needs.
    #[cfg(feature = "http")]
    is_refused: bool,
    /// The handler wants the stream to end early; the reader is to come back after this time.
    release: Option<Duration>,
    /// What waits until the reader has caught up, each thing once: reports are merged into their newest,
    /// events that say the same into one.
    reports: Vec<Arc<ProgressSlot>>,
    events: Vec<Waiting>,
}

/// An event for a slow reader.
struct Waiting {
    /// The listen stream it belongs to, if any.
    stream: Option<IdBuf>,
    /// The task it is about, if any.
    task: Option<Arc<str>>,
    message: Vec<u8>,
}

impl Outbox {
    /// From here on the reader counts as slow, and what can be merged is merged.
    const SLOW: usize = 64 << 10;
    /// Log messages beyond this are dropped.
    const FULL: usize = 1 << 20;

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds one message, written without its newline.
    pub(crate) fn push(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut queue = self.queue();
        queue.message(write);
        Queue::wake(queue);
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
        Queue::wake(queue);
    }

    /// A report: at once while the reader keeps up, else merged with the later ones.
    pub(super) fn push_report(&self, slot: &Arc<ProgressSlot>) {
        let mut queue = self.queue();
        if queue.bytes.len() < Self::SLOW {
            slot.write_pending(&mut queue.bytes);
        } else if !queue.reports.iter().any(|it| Arc::ptr_eq(it, slot)) {
            queue.reports.push(slot.clone());
        }
        Queue::wake(queue);
    }

    /// Drops what a call reported and has not gone out.
    pub(super) fn forget(&self, slot: &Arc<ProgressSlot>) {
        self.queue().reports.retain(|it| !Arc::ptr_eq(it, slot));
    }

    /// An event that is worth saying once: while the reader is slow, repetitions are left out.
    pub(super) fn push_event(&self, stream: Option<&IdBuf>, message: Vec<u8>) {
        let mut queue = self.queue();
        if queue.bytes.len() < Self::SLOW && queue.unread.is_none() {
            queue.message(|out| out.extend_from_slice(&message));
        } else if !queue.events.iter().any(|it| it.message == message) {
            queue.events.push(Waiting { stream: stream.cloned(), task: None, message });
        }
        Queue::wake(queue);
    }

    /// How a task stands now. While the reader is slow only the newest word on each task waits, and of all tasks together no more than
    /// can be missed: clients look by themselves too.
    pub(super) fn push_news(&self, stream: Option<&IdBuf>, task: &Arc<str>, message: Vec<u8>) {
        let mut queue = self.queue();
        if queue.bytes.len() < Self::SLOW && queue.unread.is_none() {
            queue.message(|out| out.extend_from_slice(&message));
        } else {
            let is_same =
                |it: &Waiting| it.task.as_ref() == Some(task) && it.stream.as_ref() == stream;
            queue.events.retain(|it| !is_same(it));
            queue.events.push(Waiting {
                stream: stream.cloned(),
                task: Some(task.clone()),
                message,
            });
            let mut bytes: usize = queue.events.iter().map(|it| it.message.len()).sum();
            queue.events.retain(|it| {
                let is_lost = bytes > Self::FULL && it.task.is_some();
                bytes -= if is_lost { it.message.len() } else { 0 };
                !is_lost
            });
        }
        Queue::wake(queue);
    }

    /// Adds one message that no event may follow which was there before it.
    pub(super) fn push_after_events(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut queue = self.queue();
        queue.write_events();
        queue.message(write);
        Queue::wake(queue);
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
        Queue::wake(queue);
    }

    /// Moves everything that is ready into `into`, which must be empty. Returns whether there was anything.
    pub(crate) fn take(&self, into: &mut Vec<u8>) -> bool {
        let mut queue = self.queue();
        if queue.bytes.is_empty() {
            queue.write_events();
        }
        if queue.bytes.is_empty() {
            return false;
        }
        std::mem::swap(&mut queue.bytes, into);
        if !queue.reports.is_empty() {
            let reports = std::mem::take(&mut queue.reports);
            for slot in reports {
                slot.write_pending(&mut queue.bytes);
            }
        }
        queue.write_events();
        true
    }

    /// How many bytes wait. A transport stops reading while this is large.
    pub(crate) fn len(&self) -> usize {
        self.queue().bytes.len()
    }

    /// Whether it is like a new one, but for the room it has.
    #[cfg(feature = "http")]
    pub(crate) fn is_empty(&self) -> bool {
        let Queue { bytes, unread, has_lost, is_refused, release, reports, events, .. } =
            &*self.queue();
        let is_plain = unread.is_none() && release.is_none() && !has_lost && !is_refused;
        let is_said = bytes.is_empty() && reports.is_empty() && events.is_empty();
        is_plain && is_said && !self.is_held()
    }

    /// Says that something may still come, until the [`Hold`] is dropped.
    pub(crate) fn hold(self: &Arc<Self>) -> Hold {
        self.holds.fetch_add(1, Ordering::AcqRel);
        Hold(self.clone())
    }

    /// Whether somebody may still add something.
    pub(crate) fn is_held(&self) -> bool {
        self.holds.load(Ordering::Acquire) > 0
    }

    /// Asks the reader to end its stream early.
    pub(super) fn release(&self, retry: Duration) {
        let mut queue = self.queue();
        queue.release = Some(retry);
        Queue::wake(queue);
    }

    /// Whether the reader is asked to end its stream, and when to come back. Asked once.
    #[cfg(feature = "http")]
    pub(crate) fn take_release(&self) -> Option<Duration> {
        self.queue().release.take()
    }

    /// Says whether somebody reads. Meanwhile what can be merged is merged, and beyond so many bytes everything is lost.
    #[cfg(feature = "http")]
    pub(crate) fn set_unread(&self, most: Option<usize>) {
        self.queue().unread = most;
    }

    /// Whether something will never be read. Asked once.
    #[cfg(feature = "http")]
    pub(crate) fn take_lost(&self) -> bool {
        std::mem::take(&mut self.queue().has_lost)
    }

    /// Marks that the answer refuses the client, which has a status of its own as long as nothing else has been sent.
    #[cfg(feature = "http")]
    pub(super) fn refuse(&self) {
        self.queue().is_refused = true;
    }

    #[cfg(feature = "http")]
    pub(crate) fn is_refused(&self) -> bool {
        self.queue().is_refused
    }

    #[cfg(feature = "http")]
    pub(crate) fn is_released(&self) -> bool {
        self.queue().release.is_some()
    }

    /// Makes the reader look, though nothing was added.
    #[cfg(feature = "http")]
    pub(crate) fn wake(&self) {
        Queue::wake(self.queue());
    }

    /// Wakes this task when something is added, or when nothing can be added any more. Returns whether something is there already.
    pub(crate) fn watch(&self, cx: &Context<'_>) -> bool {
        let mut queue = self.queue();
        match &mut queue.reader {
            Some(it) => it.clone_from(cx.waker()),
            None => queue.reader = Some(cx.waker().clone()),
        }
        !queue.bytes.is_empty()
    }

    /// Wakes nobody until somebody watches again.
    pub(crate) fn unwatch(&self) {
        self.queue().reader = None;
    }

    /// Waits until there is something to [`take`](Self::take), or for `false` when nothing will ever come.
    #[cfg(feature = "http")]
    pub(crate) fn poll_take(&self, cx: &Context<'_>, into: &mut Vec<u8>) -> std::task::Poll<bool> {
        use std::task::Poll;
        self.watch(cx);
        // Before the look into the queue: who let go has written before.
        let is_held = self.is_held();
        if self.take(into) {
            Poll::Ready(true)
        } else if is_held {
            Poll::Pending
        } else {
            Poll::Ready(false)
        }
    }
}

/// As long as it lives, its holder may still add something to the outbox.
pub(crate) struct Hold(Arc<Outbox>);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.holds.fetch_sub(1, Ordering::AcqRel);
        // Whoever waits for the last one would not hear of one that ends in silence.
        Queue::wake(self.0.queue());
    }
}

impl Queue {
    fn wake(mut queue: MutexGuard<'_, Self>) {
        let reader = queue.reader.take();
        drop(queue);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    fn write_events(&mut self) {
        if self.events.is_empty() {
            return;
        }
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
        if self.unread.is_some_and(|most| self.bytes.len() > most) {
            self.bytes = Vec::new();
            self.has_lost = true;
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
    fn news_of_tasks_are_merged_and_bounded_under_a_slow_reader() {
        let outbox = Outbox::default();
        outbox.push(|out| out.resize(Outbox::SLOW, b'x'));
        let task: Arc<str> = "a".into();
        outbox.push_event(None, b"changed".to_vec());
        for n in 0..1000 {
            outbox.push_news(None, &task, format!("a {n}").into_bytes());
        }
        assert!(drain(&outbox).ends_with("x\nchanged\na 999\n"));
        outbox.push(|out| out.resize(Outbox::SLOW, b'x'));
        outbox.push_event(None, b"changed".to_vec());
        for n in 0..1000 {
            let mut news = format!("{n} ").into_bytes();
            news.resize(10_000, b'y');
            outbox.push_news(None, &n.to_string().into(), news);
        }
        let left = drain(&outbox);
        assert!(left.len() < Outbox::SLOW + Outbox::FULL + 10_000, "{}", left.len());
        assert!(left.contains("\nchanged\n") && left.contains("\n999 y"));
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
