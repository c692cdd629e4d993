//! Streams of a session that a client can leave and resume (rules HL-14 and HL-15, SEP-1699).

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

use super::{endpoint::millis, session::Session, sse};
use crate::{limits::Limits, protocol::Outbox};

/// Stream of a session. Events that were sent are kept for a while. Messages that were not sent wait in the outbox.
pub(super) struct Resumable {
    /// Number of the stream, unique in its session.
    number: u32,
    outbox: Arc<Outbox>,
    sent: Mutex<Sent>,
    memory: Arc<Memory>,
}

/// Number of bytes that all streams keep together, with the limits for it, and the start of the clock.
pub(super) struct Memory {
    bytes: AtomicUsize,
    limits: Limits,
    since: Instant,
}

impl Memory {
    pub(super) fn new(limits: Limits) -> Self {
        Self { bytes: AtomicUsize::new(0), limits, since: Instant::now() }
    }

    /// Returns the milliseconds since the start.
    pub(super) fn millis(&self) -> u64 {
        millis(self.since.elapsed())
    }
}

/// Events that were sent and are still kept.
#[derive(Default)]
struct Sent {
    /// Number of the last event that was sent.
    last: u64,
    kept: VecDeque<Bytes>,
    bytes: usize,
    /// Number of the current reader, which rises with each reader.
    reader: u64,
    ended: Option<Instant>,
    /// Time when the last reader left, unless another one came.
    left: Option<Instant>,
}

/// Id of an event: its stream, and its number in that stream, which counts from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) stream: u32,
    event: u64,
}

impl EventId {
    /// Parses an id. The part after a dot is ignored: it tells priming events apart, which have no number of their own.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.split_once('.').map_or(text, |it| it.0);
        let (stream, event) = text.split_once('-')?;
        Some(Self { stream: stream.parse().ok()?, event: event.parse().ok()? })
    }
}

/// Reason why a stream cannot be resumed after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gone {
    /// The event is no longer kept.
    Forgotten,
    /// The event never existed, or its stream has ended.
    Unknown,
}

impl Resumable {
    pub(super) fn new(number: u32, outbox: Arc<Outbox>, memory: Arc<Memory>) -> Self {
        Self { number, outbox, sent: Mutex::default(), memory }
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing more will come on the stream, and no client has asked for it for `kept`.
    pub(super) fn is_past(&self, kept: Duration) -> bool {
        let sent = self.sent();
        let since = if self.outbox.is_held() { sent.ended } else { sent.ended.or(sent.left) };
        since.is_some_and(|it| it.elapsed() >= kept)
    }

    /// Makes events of unread messages, so that they count among the kept events.
    pub(super) fn settle(&self) {
        let mut sent = self.sent();
        let mut lines = Vec::new();
        if sent.left.is_some() && self.outbox.take(&mut lines) {
            self.send(&mut sent, &lines, &mut Vec::new());
        }
    }

    /// Begins to read, from now on or after an event. The previous reader gets no more events (rule HL-13).
    pub(super) fn read(
        self: &Arc<Self>,
        after: Option<EventId>,
        session: &Arc<Session>,
    ) -> Result<Reader, Gone> {
        let mut sent = self.sent();
        if self.outbox.take_lost() {
            // The lost messages take one number. A client that wants to resume after an earlier event then learns that events are missing.
            self.memory.bytes.fetch_sub(sent.bytes, Ordering::AcqRel);
            sent.kept.clear();
            sent.bytes = 0;
            sent.last += 1;
        }
        let position = match after {
            None => sent.last,
            Some(it) => {
                let forgotten = sent.last - sent.kept.len() as u64;
                if it.event < forgotten {
                    return Err(Gone::Forgotten);
                }
                if it.event > sent.last {
                    return Err(Gone::Unknown);
                }
                it.event
            }
        };
        sent.reader += 1;
        sent.left = None;
        self.outbox.set_unread(None);
        if after.is_some() {
            // A client that comes back must not be sent away again.
            self.outbox.take_release();
        }
        let number = sent.reader;
        drop(sent);
        self.outbox.wake();
        Ok(Reader { stream: self.clone(), session: session.clone(), number, position })
    }

    fn id(&self, event: u64) -> String {
        format!("{}-{event}", self.number)
    }

    /// Makes events of messages, which then count as sent.
    fn send(&self, sent: &mut Sent, lines: &[u8], frames: &mut Vec<u8>) {
        for line in lines.split_inclusive(|it| *it == b'\n') {
            sent.last += 1;
            let from = frames.len();
            sse::numbered(frames, &self.id(sent.last), line);
            let event = Bytes::copy_from_slice(&frames[from..]);
            sent.bytes += event.len();
            self.memory.bytes.fetch_add(event.len(), Ordering::AcqRel);
            sent.kept.push_back(event);
            while self.is_full(sent) {
                let forgotten = sent.kept.pop_front().map_or(0, |it| it.len());
                sent.bytes -= forgotten;
                self.memory.bytes.fetch_sub(forgotten, Ordering::AcqRel);
            }
        }
    }

    fn is_full(&self, sent: &Sent) -> bool {
        let limits = &self.memory.limits;
        let all = self.memory.bytes.load(Ordering::Acquire);
        sent.kept.len() > limits.events
            || sent.bytes > limits.event_bytes
            || (all > limits.all_event_bytes && sent.bytes > 0)
    }
}

impl Drop for Resumable {
    fn drop(&mut self) {
        let sent = self.sent.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.memory.bytes.fetch_sub(sent.bytes, Ordering::AcqRel);
    }
}

/// Reader of a stream, until another reader takes over.
pub(super) struct Reader {
    stream: Arc<Resumable>,
    /// The session counts as used while it has a reader.
    session: Arc<Session>,
    number: u64,
    /// Number of the last event that this reader has got.
    position: u64,
}

impl Reader {
    /// Writes an event whose id lets the client resume from here, if the revision knows such events (rule HL-08).
    pub(super) fn prime(&self, frames: &mut Vec<u8>) {
        if self.session.resumes() {
            let id = format!("{}.{}", self.stream.id(self.position), self.number);
            sse::priming(frames, &id);
        }
    }

    #[cfg(feature = "auth")]
    pub(super) fn until(&self) -> &super::expiry::Until {
        &self.session.until
    }

    /// Sends messages that have been taken from the outbox already.
    pub(super) fn begin(&mut self, lines: &[u8], frames: &mut Vec<u8>) {
        let mut sent = self.stream.sent();
        self.stream.send(&mut sent, lines, frames);
        self.position = sent.last;
    }

    /// Waits for more events, or for `false` if this reader gets no more.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, frames: &mut Vec<u8>) -> Poll<bool> {
        let stream = &*self.stream;
        let mut sent = stream.sent();
        if sent.reader != self.number {
            return Poll::Ready(false);
        }
        if self.position < sent.last {
            let missed = usize::try_from(sent.last - self.position).unwrap_or(usize::MAX);
            let from = sent.kept.len().saturating_sub(missed);
            sent.kept.range(from..).for_each(|it| frames.extend_from_slice(it));
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
            sse::retry(frames, after);
            return Poll::Ready(false);
        }
        polled
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut sent = self.stream.sent();
        if sent.reader == self.number {
            sent.left = Some(Instant::now());
            self.stream.outbox.set_unread(Some(self.stream.memory.limits.event_bytes));
        }
        drop(sent);
        self.session.touch();
    }
}
