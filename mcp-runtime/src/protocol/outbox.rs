use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Waker},
    time::Duration,
};

use super::{backlog::Backlog, channel::ProgressSlot};
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
    unread: Option<NonZeroUsize>,
    /// Most never have any of it, and sessions that idle are many.
    rest: Option<Box<Rest>>,
}

/// What an outbox has beside messages when something out of the ordinary happened.
#[derive(Default)]
struct Rest {
    /// More came than may wait.
    has_lost: bool,
    /// The answer says that the client cannot do what the call needs.
    #[cfg(feature = "http")]
    is_refused: bool,
    /// The handler wants the stream to end early; the reader is to come back after this time.
    release: Option<Duration>,
    /// What waits until the reader has caught up: of each call the newest report, found by the address of its slot, and events.
    /// Which call is heard first does not matter then.
    reports: BTreeMap<usize, Arc<ProgressSlot>>,
    events: Backlog,
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
            queue.forget(slot);
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
        } else {
            queue.rest().reports.entry(address(slot)).or_insert_with(|| slot.clone());
        }
        Queue::wake(queue);
    }

    /// Drops what a call reported and has not gone out.
    pub(super) fn forget(&self, slot: &Arc<ProgressSlot>) {
        self.queue().forget(slot);
    }

    /// An event that is worth saying once: while the reader is slow, repetitions are left out.
    pub(super) fn push_event(&self, stream: Option<&IdBuf>, message: Vec<u8>) {
        let mut queue = self.queue();
        if queue.bytes.len() < Self::SLOW && queue.unread.is_none() {
            queue.message(|out| out.extend_from_slice(&message));
        } else {
            queue.rest().events.event(stream, message);
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
            queue.rest().events.news(stream, task, message, Self::FULL);
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
        if let Some(rest) = &mut self.queue().rest {
            rest.events.forget(stream);
        }
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
        self.queue().take(into)
    }

    /// The same until nothing is left, where nothing is said meanwhile.
    #[cfg(feature = "http")]
    #[inline]
    pub(crate) fn take_all(&self, into: &mut Vec<u8>) {
        let mut queue = self.queue();
        queue.take(into);
        let mut part = Vec::new();
        while queue.take(&mut part) {
            into.append(&mut part);
        }
    }

    /// How many bytes wait. A transport stops reading while this is large.
    pub(crate) fn len(&self) -> usize {
        self.queue().bytes.len()
    }

    /// Whether it is like a new one, but for the room it has.
    #[cfg(feature = "http")]
    pub(crate) fn is_empty(&self) -> bool {
        let Queue { bytes, unread, rest, .. } = &*self.queue();
        let is_said = bytes.is_empty() && rest.as_ref().is_none_or(|it| it.is_empty());
        is_said && unread.is_none() && !self.is_held()
    }

    #[cfg(all(test, feature = "http"))]
    pub(super) fn kept(&self) -> usize {
        let queue = self.queue();
        size_of_val(self) + queue.bytes.capacity() + queue.rest.as_deref().map_or(0, size_of_val)
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
        queue.rest().release = Some(retry);
        Queue::wake(queue);
    }

    /// Whether the reader is asked to end its stream, and when to come back. Asked once.
    #[cfg(feature = "http")]
    pub(crate) fn take_release(&self) -> Option<Duration> {
        self.queue().rest.as_mut().and_then(|it| it.release.take())
    }

    /// Says whether somebody reads. Meanwhile what can be merged is merged, and beyond so many bytes everything is lost.
    #[cfg(feature = "http")]
    pub(crate) fn set_unread(&self, most: Option<usize>) {
        // No message is as short as one byte, so at most one is none.
        self.queue().unread = most.map(|it| NonZeroUsize::new(it).unwrap_or(NonZeroUsize::MIN));
    }

    /// Whether something will never be read. Asked once.
    #[cfg(feature = "http")]
    pub(crate) fn take_lost(&self) -> bool {
        self.queue().rest.as_mut().is_some_and(|it| std::mem::take(&mut it.has_lost))
    }

    /// Marks that the answer refuses the client, which has a status of its own as long as nothing else has been sent.
    #[cfg(feature = "http")]
    pub(super) fn refuse(&self) {
        self.queue().rest().is_refused = true;
    }

    #[cfg(feature = "http")]
    pub(crate) fn is_refused(&self) -> bool {
        self.queue().rest.as_ref().is_some_and(|it| it.is_refused)
    }

    #[cfg(feature = "http")]
    pub(crate) fn is_released(&self) -> bool {
        self.queue().rest.as_ref().is_some_and(|it| it.release.is_some())
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

fn address(slot: &Arc<ProgressSlot>) -> usize {
    Arc::as_ptr(slot).addr()
}

impl Queue {
    fn wake(mut queue: MutexGuard<'_, Self>) {
        let reader = queue.reader.take();
        drop(queue);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    #[inline]
    fn take(&mut self, into: &mut Vec<u8>) -> bool {
        if self.bytes.is_empty() {
            self.write_events();
        }
        if self.bytes.is_empty() {
            return false;
        }
        std::mem::swap(&mut self.bytes, into);
        if let Some(rest) = &mut self.rest {
            for slot in std::mem::take(&mut rest.reports).into_values() {
                slot.write_pending(&mut self.bytes);
            }
            self.write_events();
        }
        true
    }

    fn rest(&mut self) -> &mut Rest {
        self.rest.get_or_insert_default()
    }

    fn forget(&mut self, slot: &Arc<ProgressSlot>) {
        if let Some(rest) = &mut self.rest {
            rest.reports.remove(&address(slot));
        }
    }

    fn write_events(&mut self) {
        let Some(rest) = &mut self.rest else { return };
        for message in std::mem::take(&mut rest.events).into_messages() {
            self.message(|out| out.extend_from_slice(&message));
        }
    }

    fn message(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.bytes.len();
        write(&mut self.bytes);
        if self.bytes.len() > before {
            self.bytes.push(b'\n');
        }
        if self.unread.is_some_and(|most| self.bytes.len() > most.get()) {
            self.bytes = Vec::new();
            self.rest().has_lost = true;
        }
    }
}

#[cfg(feature = "http")]
impl Rest {
    fn is_empty(&self) -> bool {
        let Self { has_lost, is_refused, release, reports, events } = self;
        let is_plain = release.is_none() && !has_lost && !is_refused;
        is_plain && reports.is_empty() && events.is_empty()
    }
}

#[cfg(test)]
mod tests;
