//! Streams of sessions that several nodes share. A node appends each message of an outbox to the log before the client sees the message. If
//! the store fails, the client gets the message without an id.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    sync::mpsc,
    task::{AbortHandle, JoinHandle},
};

#[cfg(feature = "auth")]
use super::expiry::StreamLifetime;
use super::{
    log_memory::KeptEvents,
    session::HttpSession,
    sse,
    stream_log::{SeenEvents, StreamEvent, StreamLog, read},
};
use crate::{
    protocol::{Outbox, Revision},
    storage::{LogEvent, StoreError},
};

/// Time between two checks whether the node that runs the calls of a stream is live.
const LOOK: Duration = Duration::from_secs(5);

/// Pause after the store has failed.
const PAUSE: Duration = Duration::from_millis(500);

/// Time after which a client reconnects if its stream ends early.
pub(super) const RETRY: Duration = Duration::from_millis(500);

/// Number of attempts to append a message while no client reads along.
const PATIENCE: usize = 600;

/// Maximum number of events that are read from the log before the client takes them.
const AHEAD: usize = 64;

/// Number of events that this process has appended to logs with several writers.
static APPENDED: AtomicU64 = AtomicU64::new(0);

type Appending = Pin<Box<dyn Future<Output = Result<Vec<u64>, StoreError>> + Send>>;

/// Writer of the log of a stream: it appends the messages of an outbox, and numbers them for a client that reads along.
struct LogWriter {
    log: StreamLog,
    kept: KeptEvents,
    outbox: Arc<Outbox>,
    /// Messages that are being appended.
    appending: Option<(Vec<u8>, Appending)>,
    /// Number of events so far. `None` if the log has several writers.
    ordinal: Option<u64>,
    /// Id of the last event.
    last: u64,
    has_ended: bool,
    /// Whether messages are missing in the log, because the store has failed.
    has_gap: bool,
    /// Number of times that this writer tries to append a message.
    tries: usize,
}

impl LogWriter {
    fn append(&mut self, lines: Vec<u8>) {
        let count = lines.iter().filter(|byte| **byte == b'\n').count() as u64;
        let ordinal = || APPENDED.fetch_add(count, Ordering::Relaxed);
        let (log, ordinal) = (self.log.clone(), Some(self.ordinal.unwrap_or_else(ordinal)));
        // Clients must not resume over a gap.
        let is_cleared = self.outbox.take_lost() | std::mem::take(&mut self.has_gap);
        let (text, tries, most) = (lines.clone(), self.tries, self.kept.add(&lines));
        let appending = Box::pin(async move {
            let mut tried = 0;
            loop {
                let first = if is_cleared { vec![log.clearing()] } else { Vec::new() };
                tried += 1;
                match log.append(first, &text, ordinal, most).await {
                    // The store may have stored the messages in spite of the error. Readers skip an event that comes twice.
                    Err(_) if tried < tries => tokio::time::sleep(PAUSE).await,
                    appended => return appended,
                }
            }
        });
        self.appending = Some((lines, appending));
    }

    fn appended(&mut self, lines: &[u8], ids: Result<Vec<u64>, StoreError>, frames: &mut Vec<u8>) {
        match ids {
            Ok(ids) => {
                for (line, id) in lines.split_inclusive(|byte| *byte == b'\n').zip(ids) {
                    sse::numbered(frames, &sse::event_id(self.log.number(), id), line);
                    self.last = id;
                    self.ordinal = self.ordinal.map(|count| count + 1);
                }
            }
            // The client gets the messages in any case, but cannot resume after them.
            Err(why) => {
                tracing::warn!("a client cannot resume its stream: {why}");
                self.has_gap = true;
                sse::messages(frames, lines, None);
            }
        }
    }

    /// Waits for more messages, and appends them to the log and to `frames`. Returns `false` when no more messages can come.
    fn poll(&mut self, cx: &mut Context<'_>, frames: &mut Vec<u8>) -> Poll<bool> {
        loop {
            if let Some((_, appending)) = &mut self.appending {
                let ids = ready!(appending.as_mut().poll(cx));
                let lines = self.appending.take().map(|appending| appending.0).unwrap_or_default();
                if self.has_ended {
                    return Poll::Ready(false);
                }
                self.appended(&lines, ids, frames);
                if !frames.is_empty() {
                    return Poll::Ready(true);
                }
            }
            let mut lines = Vec::new();
            if ready!(self.outbox.poll_take(cx, &mut lines)) {
                self.append(lines);
                continue;
            }
            self.has_ended = true;
            // The log of a stream with several writers has no end.
            let Some(ordinal) = self.ordinal else { return Poll::Ready(false) };
            let (log, has_gap) = (self.log.clone(), self.has_gap);
            let end = async move {
                // A client must not take a stream with a gap for a whole one.
                match has_gap {
                    true => log.append(vec![log.clearing()], b"", None, 1).await,
                    false => log.end(ordinal).await.map(|()| Vec::new()),
                }
            };
            self.appending = Some((Vec::new(), Box::pin(end)));
        }
    }

    /// Appends the remaining messages after the client has stopped reading along.
    async fn pump(mut self) {
        self.tries = PATIENCE;
        let mut frames = Vec::new();
        while std::future::poll_fn(|cx| self.poll(cx, &mut frames)).await {
            frames.clear();
        }
    }
}

/// Appends the messages of a session that belong to no request, until the session ends at this node.
pub(super) fn pump(log: StreamLog, kept: KeptEvents, outbox: Arc<Outbox>) -> JoinHandle<()> {
    let writer = LogWriter {
        log,
        kept,
        outbox,
        appending: None,
        ordinal: None,
        last: 0,
        has_ended: false,
        has_gap: false,
        tries: PATIENCE,
    };
    tokio::spawn(writer.pump())
}

/// Handle that ends a reader of a stream at this node.
pub(super) enum AttachedReader {
    /// Tokio task that reads the log for a client.
    Log(AbortHandle),
    /// Answer at the node that runs the calls.
    Answer(Weak<AnswerWriter>),
}

impl AttachedReader {
    pub(super) fn is_finished(&self) -> bool {
        match self {
            Self::Log(reading) => reading.is_finished(),
            Self::Answer(writer) => writer.strong_count() == 0,
        }
    }

    /// Ends the reader. The calls of an answer go on, and their messages go into the log.
    pub(super) fn end(self) {
        match self {
            Self::Log(reading) => reading.abort(),
            Self::Answer(writer) => {
                if let Some(writer) = writer.upgrade() {
                    writer.release();
                }
            }
        }
    }
}

/// Writer of an answer. It is empty after the client has left, or has resumed the stream elsewhere.
pub(super) struct AnswerWriter(Mutex<Option<LogWriter>>);

impl AnswerWriter {
    fn lock(&self) -> MutexGuard<'_, Option<LogWriter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends the remaining messages to the log in a tokio task of its own, because a client that reads slowly would hold them up.
    fn release(&self) {
        if let Some(writer) = self.lock().take() {
            tokio::spawn(writer.pump());
        }
    }
}

/// Answer of a request as a stream, at the node that runs its calls.
pub(super) struct SharedAnswer {
    writer: Arc<AnswerWriter>,
    primes: bool,
    session: Arc<HttpSession>,
}

impl SharedAnswer {
    /// Announces a stream, whose first messages are `lines`. `requests` are the ids of its requests, as JSON texts.
    pub(super) fn new(
        (log, mut kept): (StreamLog, KeptEvents),
        session: Arc<HttpSession>,
        outbox: Arc<Outbox>,
        lines: Vec<u8>,
        requests: Vec<String>,
    ) -> Self {
        let (announced, text, most) = (log.clone(), lines.clone(), kept.add(&lines));
        let appending = Box::pin(async move {
            let announcement = announced.announcement(requests);
            announced.append(vec![announcement], &text, Some(0), most).await
        });
        let writer = LogWriter {
            log,
            kept,
            outbox,
            appending: Some((lines, appending)),
            ordinal: Some(0),
            last: 0,
            has_ended: false,
            has_gap: false,
            tries: 1,
        };
        let writer = Arc::new(AnswerWriter(Mutex::new(Some(writer))));
        Self { writer, primes: session.resumes(), session }
    }

    /// Returns the handle with which a reader that resumes the stream ends this answer.
    pub(super) fn reader(&self) -> AttachedReader {
        AttachedReader::Answer(Arc::downgrade(&self.writer))
    }

    /// Waits for more events, and appends them to `frames`. Returns `false` if this stream gets no more events.
    fn poll(&mut self, cx: &mut Context<'_>, frames: &mut Vec<u8>) -> Poll<bool> {
        let mut slot = self.writer.lock();
        let Some(writer) = slot.as_mut() else { return Poll::Ready(false) };
        if self.primes {
            // The client gets an event id to resume with only after the store knows the stream.
            let Some((lines, appending)) = &mut writer.appending else { return Poll::Ready(false) };
            let ids = ready!(appending.as_mut().poll(cx));
            let lines = std::mem::take(lines);
            writer.appending = None;
            self.primes = false;
            if ids.is_ok() {
                sse::priming(frames, &sse::event_id(writer.log.number(), 0));
            }
            writer.appended(&lines, ids, frames);
            return Poll::Ready(true);
        }
        let polled = writer.poll(cx, frames);
        if polled == Poll::Ready(false) {
            *slot = None;
        } else if polled.is_pending()
            && let Some(after) = writer.outbox.take_release()
        {
            sse::retry(frames, after);
            return Poll::Ready(false);
        }
        polled
    }
}

impl Drop for SharedAnswer {
    fn drop(&mut self) {
        self.session.touch();
        self.writer.release();
    }
}

/// Reader of a stream that any node may have begun.
pub(super) struct LogReader {
    log: StreamLog,
    /// Last event that the client has received.
    position: u64,
    opened: Option<u64>,
    events: mpsc::Receiver<LogEvent>,
    reading: AbortHandle,
    session: Arc<HttpSession>,
}

impl LogReader {
    /// Reads the events after the event `after`. `opened` is the version of the record `delivered`, and `None` unless this is stream 0.
    pub(super) fn new(
        log: StreamLog,
        (after, opened): (u64, Option<u64>),
        session: Arc<HttpSession>,
    ) -> Self {
        let (sender, events) = mpsc::channel(AHEAD);
        let reading = tokio::spawn(read_along(log.clone(), after, sender, session.revision()));
        let reading = reading.abort_handle();
        Self { log, position: after, opened, events, reading, session }
    }

    /// Returns the handle with which a further reader of the stream ends this reader.
    pub(super) fn reading(&self) -> AbortHandle {
        self.reading.clone()
    }

    fn poll(&mut self, cx: &mut Context<'_>, frames: &mut Vec<u8>) -> Poll<bool> {
        let mut event = ready!(self.events.poll_recv(cx));
        if event.is_none() {
            // The node stops, or another reader has replaced this one.
            sse::retry(frames, RETRY);
            return Poll::Ready(false);
        }
        while let Some(next) = event {
            match read(&next) {
                StreamEvent::End => return Poll::Ready(false),
                StreamEvent::Message(line) => {
                    sse::numbered(frames, &sse::event_id(self.log.number(), next.id), line);
                    self.position = next.id;
                }
            }
            event = self.events.try_recv().ok();
        }
        Poll::Ready(true)
    }
}

impl Drop for LogReader {
    fn drop(&mut self) {
        self.reading.abort();
        self.session.touch();
        if let Some(opened) = self.opened {
            tokio::spawn(self.log.clone().set_delivered(self.position, opened));
        }
    }
}

/// Sends the events of a log to a reader. If there are no events for a while, checks whether the node that runs the calls of the stream is
/// still live.
async fn read_along(
    log: StreamLog,
    after: u64,
    sender: mpsc::Sender<LogEvent>,
    revision: Revision,
) {
    let (mut follower, mut seen) = (log.follow(after), SeenEvents::default());
    loop {
        match tokio::time::timeout(LOOK, follower.next()).await {
            Ok(Ok(event)) => {
                let is_old = seen.add(&event) && read(&event) != StreamEvent::End;
                if is_old || event.id <= after {
                    continue;
                }
                if sender.send(event).await.is_err() {
                    return;
                }
            }
            Ok(Err(why)) => {
                tracing::debug!("a stream has to wait: {why}");
                tokio::time::sleep(PAUSE).await;
            }
            Err(_) if log.number() != 0 => {
                if let Err(why) = log.answer_for_dead(revision).await {
                    tracing::debug!("it is not known whether the node of a stream is live: {why}");
                }
            }
            Err(_) => {}
        }
    }
}

/// Stream of a session that several nodes share.
pub(super) enum SharedReader {
    /// Answer of a request at the node that runs its calls.
    Answer(Box<SharedAnswer>),
    /// Stream for messages that belong to no request, or a stream that was resumed.
    Log(Box<LogReader>),
}

impl SharedReader {
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, frames: &mut Vec<u8>) -> Poll<bool> {
        match self {
            Self::Answer(answer) => answer.poll(cx, frames),
            Self::Log(reader) => reader.poll(cx, frames),
        }
    }

    #[cfg(feature = "auth")]
    pub(super) fn lifetime(&self) -> &StreamLifetime {
        match self {
            Self::Answer(answer) => answer.session.lifetime(),
            Self::Log(reader) => reader.session.lifetime(),
        }
    }
}
