//! Server-sent events. This module contains the wire format (WHATWG HTML, section 9.2), and the streams of a session, which a client can
//! resume after a disconnect (rules HL-14 and HL-15, SEP-1699).

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::Instant;

use crate::{limits::Limits, protocol::Outbox};

/// Comment that shows proxies that the connection is alive. Clients ignore it.
pub(super) const KEEP_ALIVE: &[u8] = b":\n\n";

/// Writes one event for each line of `lines`, which are messages with their newlines.
pub(super) fn messages(out: &mut Vec<u8>, lines: &[u8], event: Option<&str>) {
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        if let Some(event) = event {
            field(out, "event", event.as_bytes());
        }
        data(out, line);
    }
}

/// Writes one message, with its newline, as an event with an id. The client can resume after this event.
pub(super) fn numbered(out: &mut Vec<u8>, id: &str, line: &[u8]) {
    field(out, "id", id.as_bytes());
    data(out, line);
}

/// Returns the id of an event, which [`EventId::parse`] reads.
pub(super) fn event_id(stream: u64, event: u64) -> String {
    format!("{stream}-{event}")
}

/// Writes an event with an id and empty data. The client can resume after this event (SEP-1699).
pub(super) fn priming(out: &mut Vec<u8>, id: &str) {
    field(out, "id", id.as_bytes());
    out.extend_from_slice(b"data:\n\n");
}

/// Writes the time after which the client is to reconnect.
pub(super) fn retry(out: &mut Vec<u8>, after: Duration) {
    field(out, "retry", after.as_millis().to_string().as_bytes());
    out.push(b'\n');
}

/// Writes the event with the URI to which a client of protocol revision 2024-11-05 posts its messages (rule SSE-02).
pub(super) fn endpoint(out: &mut Vec<u8>, uri: &str) {
    field(out, "event", b"endpoint");
    field(out, "data", uri.as_bytes());
    out.push(b'\n');
}

fn data(out: &mut Vec<u8>, line: &[u8]) {
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(line);
    out.push(b'\n');
}

fn field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.push(b'\n');
}

/// Stream of a session that a client can resume. Sent events are kept for a while, and unsent messages wait in the outbox.
pub(super) struct ResumableStream {
    /// Number of the stream, unique in its session.
    number: u64,
    outbox: Arc<Outbox>,
    sent: Mutex<SentEvents>,
    memory: Arc<EventMemory>,
}

/// Limits on the events that streams keep, and the memory that all kept events together use. Also provides the clock of the endpoint.
pub(super) struct EventMemory {
    bytes: AtomicUsize,
    limits: Limits,
    since: Instant,
}

impl EventMemory {
    pub(super) fn new(limits: Limits) -> Self {
        Self { bytes: AtomicUsize::new(0), limits, since: Instant::now() }
    }

    /// Returns the time since the endpoint was created, in milliseconds.
    pub(super) fn millis(&self) -> u64 {
        millis(self.since.elapsed())
    }
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Events that were sent and are still kept.
#[derive(Default)]
struct SentEvents {
    /// Number of the last event that was sent.
    last: u64,
    kept: VecDeque<Bytes>,
    bytes: usize,
    /// Number of the current reader. Each new reader gets the next number.
    reader: u64,
    ended: Option<Instant>,
    /// Time when the last reader was dropped, unless another reader has replaced it.
    left: Option<Instant>,
}

/// Id of an event: its stream, and its number in that stream, which counts from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) stream: u64,
    pub(super) event: u64,
}

impl EventId {
    /// Parses an id. The part after a dot is ignored: it only makes the ids of priming events unique, because these events have no number
    /// of their own.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.split_once('.').map_or(text, |parts| parts.0);
        let (stream, event) = text.split_once('-')?;
        Some(Self { stream: stream.parse().ok()?, event: event.parse().ok()? })
    }
}

/// Reason why a stream cannot be resumed after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gone {
    /// The event has been dropped from memory.
    Forgotten,
    /// The event never existed, or its stream has ended.
    Unknown,
}

impl ResumableStream {
    pub(super) fn new(number: u64, outbox: Arc<Outbox>, memory: Arc<EventMemory>) -> Self {
        Self { number, outbox, sent: Mutex::default(), memory }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    fn sent(&self) -> MutexGuard<'_, SentEvents> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the stream gets no more messages, and has ended or lost its reader at least `kept` ago.
    pub(super) fn is_past(&self, kept: Duration) -> bool {
        let sent = self.sent();
        let since = if self.outbox.is_held() { sent.ended } else { sent.ended.or(sent.left) };
        since.is_some_and(|since| since.elapsed() >= kept)
    }

    /// If the stream has no reader, turns unread messages into events, so that they count toward the limits on kept events.
    pub(super) fn settle(&self) {
        let mut sent = self.sent();
        let mut lines = Vec::new();
        if sent.left.is_some() && self.outbox.take(&mut lines) {
            self.send(&mut sent, &lines, &mut Vec::new());
        }
    }

    /// Returns a new reader, for new events or for all events after a given one. The previous reader gets no more events (rule HL-13).
    pub(super) fn read(self: &Arc<Self>, after: Option<EventId>) -> Result<StreamReader, Gone> {
        let mut sent = self.sent();
        if self.outbox.take_lost() {
            // All lost messages together get one event number, for which no event is kept. A client that tries to resume after an earlier
            // event is then refused, because events are missing.
            self.memory.bytes.fetch_sub(sent.bytes, Ordering::AcqRel);
            sent.kept.clear();
            sent.bytes = 0;
            sent.last += 1;
        }
        let position = match after {
            None => sent.last,
            Some(id) => {
                let forgotten = sent.last - sent.kept.len() as u64;
                if id.event < forgotten {
                    return Err(Gone::Forgotten);
                }
                if id.event > sent.last {
                    return Err(Gone::Unknown);
                }
                id.event
            }
        };
        sent.reader += 1;
        sent.left = None;
        self.outbox.set_unread(None);
        if after.is_some() {
            // Clears an earlier request to end the stream early, so that the stream does not end for the client that has now resumed it.
            self.outbox.take_release();
        }
        let number = sent.reader;
        drop(sent);
        self.outbox.wake();
        Ok(StreamReader { stream: self.clone(), number, position })
    }

    fn id(&self, event: u64) -> String {
        event_id(self.number, event)
    }

    /// Turns messages into numbered events, and appends them to `frames`. The events count as sent, and are kept within the limits for
    /// clients that resume.
    fn send(&self, sent: &mut SentEvents, lines: &[u8], frames: &mut Vec<u8>) {
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            sent.last += 1;
            let from = frames.len();
            numbered(frames, &self.id(sent.last), line);
            let event = Bytes::copy_from_slice(&frames[from..]);
            sent.bytes += event.len();
            self.memory.bytes.fetch_add(event.len(), Ordering::AcqRel);
            sent.kept.push_back(event);
            while self.is_full(sent) {
                let forgotten = sent.kept.pop_front().map_or(0, |event| event.len());
                sent.bytes -= forgotten;
                self.memory.bytes.fetch_sub(forgotten, Ordering::AcqRel);
            }
        }
    }

    fn is_full(&self, sent: &SentEvents) -> bool {
        let limits = &self.memory.limits;
        let all = self.memory.bytes.load(Ordering::Acquire);
        sent.kept.len() > limits.events
            || sent.bytes > limits.event_bytes
            || (all > limits.all_event_bytes && sent.bytes > 0)
    }
}

impl Drop for ResumableStream {
    fn drop(&mut self) {
        let sent = self.sent.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.memory.bytes.fetch_sub(sent.bytes, Ordering::AcqRel);
    }
}

/// Reader of a stream. It gets no more events after another reader has replaced it.
pub(super) struct StreamReader {
    stream: Arc<ResumableStream>,
    number: u64,
    /// Number of the last event that this reader has received.
    position: u64,
}

impl StreamReader {
    /// Writes an event whose id lets the client resume from here.
    pub(super) fn prime(&self, frames: &mut Vec<u8>) {
        let id = format!("{}.{}", self.stream.id(self.position), self.number);
        priming(frames, &id);
    }

    /// Writes the first messages of the stream as events. The caller has already taken `lines` from the outbox.
    pub(super) fn begin(&mut self, lines: &[u8], frames: &mut Vec<u8>) {
        let mut sent = self.stream.sent();
        self.stream.send(&mut sent, lines, frames);
        self.position = sent.last;
    }

    /// Waits for more events, and appends them to `frames`. Returns `false` if this reader gets no more events.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, frames: &mut Vec<u8>) -> Poll<bool> {
        let stream = &*self.stream;
        let mut sent = stream.sent();
        if sent.reader != self.number {
            return Poll::Ready(false);
        }
        if self.position < sent.last {
            let missed = usize::try_from(sent.last - self.position).unwrap_or(usize::MAX);
            let from = sent.kept.len().saturating_sub(missed);
            sent.kept.range(from..).for_each(|event| frames.extend_from_slice(event));
            self.position = sent.last;
            return Poll::Ready(true);
        }
        let mut lines = Vec::new();
        let polled = stream.outbox.poll_take(cx, &mut lines);
        stream.send(&mut sent, &lines, frames);
        self.position = sent.last;
        if polled == Poll::Ready(false) {
            sent.ended.get_or_insert_with(Instant::now);
        } else if let Some(after) = stream.outbox.take_release() {
            retry(frames, after);
            return Poll::Ready(false);
        }
        polled
    }
}

impl Drop for StreamReader {
    fn drop(&mut self) {
        let mut sent = self.stream.sent();
        if sent.reader == self.number {
            sent.left = Some(Instant::now());
            self.stream.outbox.set_unread(Some(self.stream.memory.limits.event_bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(write: impl FnOnce(&mut Vec<u8>), expected: &str) {
        let mut out = Vec::new();
        write(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn events_are_framed() {
        check(|out| messages(out, b"{}\n[]\n", None), "data: {}\n\ndata: []\n\n");
        check(|out| messages(out, b"{}\n", Some("message")), "event: message\ndata: {}\n\n");
        check(|out| numbered(out, "1-2", b"{}\n"), "id: 1-2\ndata: {}\n\n");
        check(|out| priming(out, "1-0"), "id: 1-0\ndata:\n\n");
        check(|out| retry(out, Duration::from_millis(500)), "retry: 500\n\n");
        check(|out| endpoint(out, "message?x"), "event: endpoint\ndata: message?x\n\n");
    }
}
