//! Messages on their way to the client, and the progress reports and events that wait while the client reads slowly.

use std::{
    collections::{BTreeMap, HashMap},
    num::NonZeroUsize,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Waker},
    time::Duration,
};

use mcp_runtime_wire::{Id, IdBuf, ObjectWriter, notification, write::end_line};

use super::{encode::related, revision::Revision};
use crate::{
    call::context::{Channel, ProgressReport},
    model::Level,
};

/// Messages on their way to the client, one line each. They are encoded directly into the buffer of the outbox.
///
/// An outbox belongs to a connection, to a request over HTTP, or to the standalone stream of an HTTP session. Only calls of its owner compete
/// for its lock. A single reader empties it.
#[derive(Default)]
pub(crate) struct Outbox {
    queue: Mutex<OutboxQueue>,
    /// Number of [`OutboxHold`]s, whose owners may still add messages.
    holds: AtomicUsize,
}

#[derive(Default)]
struct OutboxQueue {
    bytes: Vec<u8>,
    reader: Option<Waker>,
    /// Maximum number of waiting bytes while there is no reader. It bounds the memory of an outbox that no reader ever empties. `None`
    /// while there is a reader.
    unread: Option<NonZeroUsize>,
    /// Boxed to save memory in idle sessions, because most outboxes have no extras.
    extras: Option<Box<OutboxExtras>>,
}

/// Reason for which a response has a status of its own over HTTP.
#[cfg(feature = "http")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseRefusal {
    /// The client lacks a capability that the call needs.
    MissingCapability,
    /// The store that several servers share is unavailable.
    Unavailable,
}

/// Parts of an outbox that only few outboxes need.
#[derive(Default)]
struct OutboxExtras {
    /// Whether messages were dropped because too many bytes waited.
    has_lost: bool,
    /// Reason for which the response has a status of its own over HTTP.
    #[cfg(feature = "http")]
    refusal: Option<ResponseRefusal>,
    /// Time after which the client should reconnect. Set if the handler wants the stream to end early.
    release: Option<Duration>,
    /// Newest progress report of each call, kept until the reader has caught up. Sorted by the address of the slot, so that a binary
    /// search finds the slot of a call.
    reports: Vec<Arc<ProgressSlot>>,
    events: Backlog,
}

impl Outbox {
    /// Number of waiting bytes at which the reader counts as slow. From then on, reports and events are merged.
    const SLOW: usize = 64 << 10;
    /// Number of waiting bytes at which log messages are dropped. It is also the limit for waiting events; beyond it, the oldest states of
    /// tasks are dropped.
    const FULL: usize = 1 << 20;

    fn queue(&self) -> MutexGuard<'_, OutboxQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds one message, written without its newline.
    pub(crate) fn push(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut queue = self.queue();
        queue.message(write);
        OutboxQueue::wake(queue);
    }

    /// Adds the last message of a call. If a report of the call waits, it is added first.
    #[inline]
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
        OutboxQueue::wake(queue);
    }

    /// Adds a report. If the reader is slow, the report waits, and is merged with later reports of the call.
    pub(super) fn push_report(&self, slot: &Arc<ProgressSlot>) {
        let mut queue = self.queue();
        if queue.bytes.len() < Self::SLOW {
            slot.write_pending(&mut queue.bytes);
        } else {
            let reports = &mut queue.extras().reports;
            if let Err(at) = place(reports, slot) {
                reports.insert(at, slot.clone());
            }
        }
        OutboxQueue::wake(queue);
    }

    /// Drops the unsent report of a call.
    pub(super) fn forget(&self, slot: &Arc<ProgressSlot>) {
        self.queue().forget(slot);
    }

    /// Adds an event. While the reader is slow, repeated events are left out.
    pub(super) fn push_event(&self, stream: Option<&IdBuf>, message: Vec<u8>) {
        let mut queue = self.queue();
        if queue.bytes.len() < Self::SLOW && queue.unread.is_none() {
            queue.message(|out| out.extend_from_slice(&message));
        } else {
            queue.extras().events.event(stream, message);
        }
        OutboxQueue::wake(queue);
    }

    /// Adds the state of a task. While the reader is slow, only the newest state of each task waits. If too many bytes wait, the oldest
    /// states are dropped. Clients can do without them because they also poll.
    pub(super) fn push_task_state(
        &self,
        stream: Option<&IdBuf>,
        task: &Arc<str>,
        message: Vec<u8>,
    ) {
        let mut queue = self.queue();
        if queue.bytes.len() < Self::SLOW && queue.unread.is_none() {
            queue.message(|out| out.extend_from_slice(&message));
        } else {
            queue.extras().events.task_state(stream, task, message, Self::FULL);
        }
        OutboxQueue::wake(queue);
    }

    /// Adds one message after all events that wait.
    pub(super) fn push_after_events(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut queue = self.queue();
        queue.write_events();
        queue.message(write);
        OutboxQueue::wake(queue);
    }

    /// Drops the unsent events of a listen stream.
    pub(super) fn forget_events(&self, stream: Id<'_>) {
        if let Some(extras) = &mut self.queue().extras {
            extras.events.forget(stream);
        }
    }

    /// Adds a log message, or drops it when the reader is far behind.
    pub(super) fn push_log(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut queue = self.queue();
        if queue.bytes.len() < Self::FULL {
            queue.message(write);
        }
        OutboxQueue::wake(queue);
    }

    /// Moves the next batch of messages into `into`, which must be empty. Returns `false` if nothing is waiting. Reports and events may
    /// come in a later batch.
    pub(crate) fn take(&self, into: &mut Vec<u8>) -> bool {
        self.queue().take(into)
    }

    /// Moves all batches into `into`. Holds the lock throughout, so that no message is added in between.
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

    /// Returns the number of waiting bytes. A transport stops reading while this is large.
    pub(crate) fn len(&self) -> usize {
        self.queue().bytes.len()
    }

    /// Returns whether the outbox is in the state of a new outbox, apart from its capacity and the waker of its reader.
    #[cfg(feature = "http")]
    pub(crate) fn is_empty(&self) -> bool {
        let OutboxQueue { bytes, unread, extras, .. } = &*self.queue();
        let is_said = bytes.is_empty() && extras.as_ref().is_none_or(|extras| extras.is_empty());
        is_said && unread.is_none() && !self.is_held()
    }

    #[cfg(all(test, feature = "http"))]
    pub(super) fn kept(&self) -> usize {
        let queue = self.queue();
        size_of_val(self) + queue.bytes.capacity() + queue.extras.as_deref().map_or(0, size_of_val)
    }

    /// Returns a guard. While it exists, the reader expects further messages.
    pub(crate) fn hold(self: &Arc<Self>) -> OutboxHold {
        self.holds.fetch_add(1, Ordering::AcqRel);
        OutboxHold(self.clone())
    }

    /// Returns whether more messages may come.
    pub(crate) fn is_held(&self) -> bool {
        self.holds.load(Ordering::Acquire) > 0
    }

    /// Asks the reader to end its stream early. `retry` is the time after which the client should reconnect.
    pub(super) fn release(&self, retry: Duration) {
        let mut queue = self.queue();
        queue.extras().release = Some(retry);
        OutboxQueue::wake(queue);
    }

    /// Takes the request to end the stream, and returns the time after which the client should reconnect.
    #[cfg(feature = "http")]
    pub(crate) fn take_release(&self) -> Option<Duration> {
        self.queue().extras.as_mut().and_then(|extras| extras.release.take())
    }

    /// Sets whether there is a reader: `None` if there is one, otherwise the maximum number of waiting bytes. Events are merged while there
    /// is no reader, and all waiting bytes are dropped beyond the maximum.
    #[cfg(feature = "http")]
    pub(crate) fn set_unread(&self, most: Option<usize>) {
        // A maximum of zero becomes one byte, which makes no difference: the shortest message has two bytes.
        self.queue().unread = most.map(|most| NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN));
    }

    /// Returns whether messages have been dropped since the last call.
    #[cfg(feature = "http")]
    pub(crate) fn take_lost(&self) -> bool {
        self.queue().extras.as_mut().is_some_and(|extras| std::mem::take(&mut extras.has_lost))
    }

    /// Records why the response refuses the request. Over HTTP such a response has a status of its own, unless another message was sent
    /// before it.
    #[cfg(feature = "http")]
    pub(super) fn refuse(&self, why: ResponseRefusal) {
        self.queue().extras().refusal = Some(why);
    }

    #[cfg(feature = "http")]
    pub(crate) fn refusal(&self) -> Option<ResponseRefusal> {
        self.queue().extras.as_ref().and_then(|extras| extras.refusal)
    }

    #[cfg(feature = "http")]
    pub(crate) fn is_released(&self) -> bool {
        self.queue().extras.as_ref().is_some_and(|extras| extras.release.is_some())
    }

    /// Wakes the reader even though no message was added.
    #[cfg(feature = "http")]
    pub(crate) fn wake(&self) {
        OutboxQueue::wake(self.queue());
    }

    /// Registers the waker of the reader, which is woken when a message is added, or when no more messages can come. Returns whether bytes
    /// are already waiting.
    pub(crate) fn watch(&self, cx: &Context<'_>) -> bool {
        let mut queue = self.queue();
        match &mut queue.reader {
            Some(reader) => reader.clone_from(cx.waker()),
            None => queue.reader = Some(cx.waker().clone()),
        }
        !queue.bytes.is_empty()
    }

    /// Removes the waker that [`watch`](Self::watch) has registered.
    pub(crate) fn unwatch(&self) {
        self.queue().reader = None;
    }

    /// Waits until there are messages to [`take`](Self::take). Returns `false` when no more messages can come.
    #[cfg(feature = "http")]
    pub(crate) fn poll_take(&self, cx: &Context<'_>, into: &mut Vec<u8>) -> std::task::Poll<bool> {
        use std::task::Poll;
        self.watch(cx);
        // `is_held` is read before the queue. A holder adds its messages before it drops its hold, so no message is missed.
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

/// Guard whose owner may still add messages to the outbox.
pub(crate) struct OutboxHold(Arc<Outbox>);

impl Drop for OutboxHold {
    fn drop(&mut self) {
        self.0.holds.fetch_sub(1, Ordering::AcqRel);
        // Without this wake-up, a reader would wait forever if the last holder adds no message.
        OutboxQueue::wake(self.0.queue());
    }
}

/// Returns the position of `slot` among reports that are sorted by address, or as an error the position where it belongs.
fn place(reports: &[Arc<ProgressSlot>], slot: &Arc<ProgressSlot>) -> Result<usize, usize> {
    reports.binary_search_by_key(&Arc::as_ptr(slot), Arc::as_ptr)
}

impl OutboxQueue {
    fn wake(mut queue: MutexGuard<'_, Self>) {
        let reader = queue.reader.take();
        drop(queue);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    #[inline]
    fn take(&mut self, into: &mut Vec<u8>) -> bool {
        // Reports and events may wait even though there are no bytes, because all bytes are dropped when too many wait without a reader.
        if self.bytes.is_empty() {
            self.write_waiting();
        }
        if self.bytes.is_empty() {
            return false;
        }
        std::mem::swap(&mut self.bytes, into);
        self.write_waiting();
        true
    }

    /// Writes the reports and the events that wait.
    #[inline]
    fn write_waiting(&mut self) {
        if let Some(extras) = &mut self.extras {
            for slot in std::mem::take(&mut extras.reports) {
                slot.write_pending(&mut self.bytes);
            }
            self.write_events();
        }
    }

    fn extras(&mut self) -> &mut OutboxExtras {
        self.extras.get_or_insert_default()
    }

    fn forget(&mut self, slot: &Arc<ProgressSlot>) {
        let Some(extras) = &mut self.extras else { return };
        if let Ok(at) = place(&extras.reports, slot) {
            extras.reports.remove(at);
        }
    }

    fn write_events(&mut self) {
        let Some(extras) = &mut self.extras else { return };
        for message in std::mem::take(&mut extras.events).into_messages() {
            self.message(|out| out.extend_from_slice(&message));
        }
    }

    fn message(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.bytes.len();
        write(&mut self.bytes);
        self.end_message(before);
    }

    /// Ends the message that was written after the first `before` bytes.
    fn end_message(&mut self, before: usize) {
        if self.bytes.len() > before {
            end_line(&mut self.bytes, before);
        }
        if self.unread.is_some_and(|most| self.bytes.len() > most.get()) {
            self.bytes = Vec::new();
            self.extras().has_lost = true;
        }
    }
}

#[cfg(feature = "http")]
impl OutboxExtras {
    fn is_empty(&self) -> bool {
        let Self { has_lost, refusal, release, reports, events } = self;
        let is_plain = release.is_none() && !has_lost && refusal.is_none();
        is_plain && reports.is_empty() && events.is_empty()
    }
}

/// Channel of a call whose client wants neither progress reports nor log messages. The call can still end its stream early.
impl Channel for Outbox {
    fn release(&self, retry: Duration) {
        Outbox::release(self, retry);
    }

    fn progress(&self, _: ProgressReport) {}

    fn log(&self, _: Level, _: &str, _: &str) {}
}

/// Newest unsent progress report of a call.
pub(crate) struct ProgressSlot {
    revision: Revision,
    /// Token as the client sent it: a number stays a number (rule C-16).
    token: Box<str>,
    /// Task that the reports belong to, if any.
    task: Option<Arc<str>>,
    pending: Mutex<Option<ProgressReport>>,
}

impl ProgressSlot {
    /// Creates the slot of a call. `token` is `None` if the client wants no reports.
    pub(super) fn new(revision: Revision, token: Option<&str>) -> Self {
        let token = token.unwrap_or("null").into();
        Self { revision, token, task: None, pending: Mutex::new(None) }
    }

    /// Returns the slot of a task, whose messages name the task.
    pub(super) fn of_task(&self, task: Arc<str>) -> Self {
        let Self { revision, token, .. } = self;
        let (revision, token) = (*revision, token.clone());
        Self { revision, token, task: Some(task), pending: Mutex::new(None) }
    }

    pub(super) fn set(&self, report: ProgressReport) {
        *self.pending.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
    }

    /// Writes the newest report with its newline, if there is one.
    fn write_pending(&self, out: &mut Vec<u8>) {
        let Some(report) = self.pending.lock().unwrap_or_else(PoisonError::into_inner).take()
        else {
            return;
        };
        let start = out.len();
        notification(out, "notifications/progress", |params| {
            params.raw("progressToken", &self.token).f64("progress", report.progress);
            if let Some(total) = report.total {
                params.f64("total", total);
            }
            if self.revision.features().progress_message {
                params.opt_str("message", report.message.as_deref());
            }
            self.write_task(params);
        });
        end_line(out, start);
    }

    pub(super) fn write_task(&self, params: &mut ObjectWriter<'_>) {
        if let Some(task) = &self.task {
            related(&mut params.object("_meta"), task);
        }
    }
}

/// Events that wait for a slow reader, without duplicates and in their order of arrival. The cost of adding an event hardly depends on the
/// number of waiting events.
#[derive(Default)]
struct Backlog {
    /// States of tasks, by their place in the order of arrival. The oldest state is dropped first.
    states: BTreeMap<u64, WaitingEvent>,
    /// All other events, by their place in the order of arrival.
    events: BTreeMap<u64, WaitingEvent>,
    places: HashMap<EventSubject, u64>,
    next: u64,
    bytes: usize,
}

struct WaitingEvent {
    subject: EventSubject,
    /// Listen stream that the event belongs to. `None` for an event of a session.
    stream: Option<IdBuf>,
    message: Arc<[u8]>,
}

/// Subject of an event. At most one event waits for each subject.
#[derive(Clone, PartialEq, Eq, Hash)]
enum EventSubject {
    /// The message itself, so that only one of several equal messages waits.
    Event(Arc<[u8]>),
    /// A task on one stream, so that only the newest state of the task waits.
    Task(Arc<str>, Option<IdBuf>),
}

impl Backlog {
    #[cfg(feature = "http")]
    fn is_empty(&self) -> bool {
        self.states.is_empty() && self.events.is_empty()
    }

    /// Adds an event, unless an equal one waits already.
    fn event(&mut self, stream: Option<&IdBuf>, message: Vec<u8>) {
        let message: Arc<[u8]> = message.into();
        let subject = EventSubject::Event(message.clone());
        if !self.places.contains_key(&subject) {
            self.push(WaitingEvent { subject, stream: stream.cloned(), message });
        }
    }

    /// Adds the state of a task and drops its previous one. While more than `most` bytes wait, the oldest states of tasks are dropped.
    fn task_state(
        &mut self,
        stream: Option<&IdBuf>,
        task: &Arc<str>,
        message: Vec<u8>,
        most: usize,
    ) {
        let subject = EventSubject::Task(task.clone(), stream.cloned());
        if let Some(place) = self.places.get(&subject) {
            self.remove(*place);
        }
        self.push(WaitingEvent { subject, stream: stream.cloned(), message: message.into() });
        while self.bytes > most
            && let Some(oldest) = self.states.keys().next().copied()
        {
            self.remove(oldest);
        }
    }

    /// Drops the events of a listen stream.
    fn forget(&mut self, stream: Id<'_>) {
        let is_of = |event: &WaitingEvent| event.stream.as_ref().map(IdBuf::as_id) == Some(stream);
        let all = self.states.iter().chain(&self.events);
        let all = all.filter(|entry| is_of(entry.1)).map(|entry| *entry.0);
        for place in all.collect::<Vec<_>>() {
            self.remove(place);
        }
    }

    /// Returns the messages in the order of arrival.
    fn into_messages(self) -> impl Iterator<Item = Arc<[u8]>> {
        let mut all = self.events;
        all.extend(self.states);
        all.into_values().map(|event| event.message)
    }

    fn push(&mut self, waiting: WaitingEvent) {
        self.bytes += waiting.message.len();
        self.places.insert(waiting.subject.clone(), self.next);
        let events = match waiting.subject {
            EventSubject::Event(_) => &mut self.events,
            EventSubject::Task(..) => &mut self.states,
        };
        events.insert(self.next, waiting);
        self.next += 1;
    }

    fn remove(&mut self, place: u64) {
        if let Some(event) = self.events.remove(&place).or_else(|| self.states.remove(&place)) {
            self.places.remove(&event.subject);
            self.bytes -= event.message.len();
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
    fn task_states_are_merged_and_bounded_under_a_slow_reader() {
        let outbox = Outbox::default();
        outbox.push(|out| out.resize(Outbox::SLOW, b'x'));
        let task: Arc<str> = "a".into();
        outbox.push_event(None, b"changed".to_vec());
        for n in 0..1000 {
            outbox.push_task_state(None, &task, format!("a {n}").into_bytes());
        }
        assert!(drain(&outbox).ends_with("x\nchanged\na 999\n"));
        outbox.push(|out| out.resize(Outbox::SLOW, b'x'));
        outbox.push_event(None, b"changed".to_vec());
        for n in 0..1000 {
            let mut news = format!("{n} ").into_bytes();
            news.resize(10_000, b'y');
            outbox.push_task_state(None, &n.to_string().into(), news);
        }
        let left = drain(&outbox);
        assert!(left.len() < Outbox::SLOW + Outbox::FULL + 10_000, "{}", left.len());
        assert!(left.contains("\nchanged\n") && left.contains("\n999 y"));
    }

    #[cfg(feature = "http")]
    #[test]
    fn a_report_that_waits_while_all_messages_are_dropped_is_sent_to_the_next_reader() {
        let outbox = Outbox::default();
        outbox.set_unread(Some(Outbox::SLOW + 10));
        outbox.push(|out| out.resize(Outbox::SLOW, b'x'));
        let slot = Arc::new(ProgressSlot::new(Revision::NEWEST_LEGACY, Some("7")));
        slot.set(ProgressReport { progress: 3.0, total: None, message: None });
        outbox.push_report(&slot);
        outbox.push(|out| out.resize(out.len() + 100, b'y'));
        assert_eq!(outbox.len(), 0);
        outbox.set_unread(None);
        assert!(outbox.take_lost());
        let left = drain(&outbox);
        assert!(left.contains("notifications/progress") && left.contains(":3"), "{left}");
        assert!(outbox.is_empty());
    }

    #[test]
    fn logs_are_dropped_when_the_client_does_not_read() {
        let outbox = Outbox::default();
        for _ in 0..10_000 {
            outbox.push_log(|out| out.extend_from_slice(&[b'x'; 1000]));
        }
        assert!(outbox.len() < Outbox::FULL + 2000);
    }
}
