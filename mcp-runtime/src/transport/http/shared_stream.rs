//! Streams of sessions that several nodes share. A node appends each message of an outbox to the log before the client sees the message. If
//! the store fails, the client gets the message without an id.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_core::future::BoxFuture;
use tokio::{
    sync::mpsc,
    task::{AbortHandle, JoinHandle},
};

#[cfg(feature = "auth")]
use super::expiry::StreamLifetime;
use super::{
    log_memory::{KeptEvents, LogMemory},
    session::HttpSession,
    sse,
    stream_log::{SILENCE, SeenEvents, StreamEvent, StreamLog, read},
};
use crate::{
    protocol::{Outbox, Revision},
    storage::{LogEvent, StoreError, StoreOperation, Transaction},
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

type Appending = BoxFuture<'static, Result<Vec<u64>, StoreError>>;

/// Messages that are being appended to a log.
struct AppendingLines {
    lines: Vec<u8>,
    /// Operations before the messages.
    first: Vec<StoreOperation>,
    /// Maximum number of events that the log may keep.
    most: usize,
    /// Number of events before the first message.
    ordinal: u64,
    appending: Appending,
}

/// Writer of the log of a stream. It appends the messages of an outbox, and returns them as events with ids for the connected client.
struct LogWriter {
    log: StreamLog,
    kept: KeptEvents,
    outbox: Arc<Outbox>,
    appending: Option<AppendingLines>,
    /// Operation that announces the stream, until the store has executed it.
    announcement: Option<StoreOperation>,
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
        let ordinal = self.ordinal.unwrap_or_else(ordinal);
        let mut first = Vec::new();
        // Clients must not resume over a gap.
        if self.outbox.take_lost() | std::mem::take(&mut self.has_gap) {
            first.push(self.log.clearing());
        }
        first.extend(self.announcement.clone());
        let most = self.kept.add(&lines);
        self.start(lines, first, most, ordinal);
    }

    fn start(&mut self, lines: Vec<u8>, first: Vec<StoreOperation>, most: usize, ordinal: u64) {
        let (log, tries) = (self.log.clone(), self.tries);
        let (text, operations) = (lines.clone(), first.clone());
        let appending = Box::pin(async move {
            let mut tried = 0;
            loop {
                tried += 1;
                match log.append(operations.clone(), &text, ordinal, most).await {
                    // The store may have stored the messages in spite of the error. Readers skip an event that comes twice.
                    Err(_) if tried < tries => tokio::time::sleep(PAUSE).await,
                    appended => return appended,
                }
            }
        });
        self.appending = Some(AppendingLines { lines, first, most, ordinal, appending });
    }

    fn appended(&mut self, lines: &[u8], ids: Result<Vec<u64>, StoreError>, frames: &mut Vec<u8>) {
        match ids {
            Ok(ids) => {
                self.announcement = None;
                for (line, id) in lines.split_inclusive(|byte| *byte == b'\n').zip(ids) {
                    sse::numbered(frames, &sse::event_id(self.log.number(), id), line);
                    self.last = id;
                    self.ordinal = self.ordinal.map(|count| count + 1);
                }
            }
            // The client gets the messages in any case, but cannot resume after them.
            Err(why) => {
                tracing::debug!("a client cannot resume its stream: {why}");
                self.has_gap = true;
                sse::messages(frames, lines, None);
            }
        }
    }

    /// Waits for more messages, and appends them to the log and to `frames`. Returns `false` when no more messages can come.
    fn poll(&mut self, cx: &mut Context<'_>, frames: &mut Vec<u8>) -> Poll<bool> {
        loop {
            if let Some(lines) = &mut self.appending {
                let ids = ready!(lines.appending.as_mut().poll(cx));
                let lines = std::mem::take(&mut lines.lines);
                self.appending = None;
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
            let memory = self.kept.memory();
            let appending = Box::pin(async move {
                if end(&log, ordinal, has_gap).await.is_err() {
                    // The client need not wait for the end in the log, because it has all messages.
                    tokio::spawn(end_later(log, ordinal, has_gap, memory));
                }
                Ok(Vec::new())
            });
            let (lines, first) = (Vec::new(), Vec::new());
            self.appending = Some(AppendingLines { lines, first, most: 1, ordinal, appending });
        }
    }

    /// Returns the transaction that keeps the stream from expiring while its calls send nothing.
    fn keeping(&mut self) -> Transaction {
        let has_events = self.last != 0 && !self.has_gap;
        let most = has_events.then(|| self.kept.add(SILENCE));
        self.log.keeping(most)
    }

    /// Appends the remaining messages after the client has stopped reading along.
    async fn pump(mut self) {
        self.tries = PATIENCE;
        let mut frames = Vec::new();
        if !self.has_ended
            && let Some(AppendingLines { lines, first, most, ordinal, appending }) =
                self.appending.take()
        {
            // There was a single attempt, because a client was reading along.
            match appending.await {
                Ok(ids) => self.appended(&lines, Ok(ids), &mut frames),
                Err(_) => self.start(lines, first, most, ordinal),
            }
        }
        let every = self.log.lifetime() / 4;
        loop {
            frames.clear();
            let more = std::future::poll_fn(|cx| self.poll(cx, &mut frames));
            match tokio::time::timeout(every, more).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => {
                    let keeping = self.keeping();
                    self.log.keep(keeping).await;
                }
            }
        }
        // An event that was appended after the end of the session has begun the log again.
        if self.kept.is_cleared()
            && self.last != 0
            && let Err(why) = self.log.remove().await
        {
            tracing::debug!("the log of a session that has ended stays until it expires: {why}");
        }
    }
}

/// Ends a stream in the store. `ordinal` is the number of its events.
async fn end(log: &StreamLog, ordinal: u64, has_gap: bool) -> Result<(), StoreError> {
    // A client must not take a stream with a gap for a whole one.
    if has_gap { log.remove().await } else { log.end(ordinal).await }
}

/// Ends a stream after the store has failed. A server that stops waits until `_memory` is dropped.
async fn end_later(log: StreamLog, ordinal: u64, has_gap: bool, _memory: Arc<LogMemory>) {
    for _ in 1..PATIENCE {
        tokio::time::sleep(PAUSE).await;
        if end(&log, ordinal, has_gap).await.is_ok() {
            return;
        }
    }
    tracing::warn!("the end of a stream is not stored, because the store is not available");
}

/// Appends the messages of a session that belong to no request, until the session ends at this node.
pub(super) fn pump(log: StreamLog, kept: KeptEvents, outbox: Arc<Outbox>) -> JoinHandle<()> {
    let writer = LogWriter {
        log,
        kept,
        outbox,
        appending: None,
        announcement: None,
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

    /// Returns the transaction that keeps the stream of an answer from expiring while its calls send nothing. After the client has
    /// disconnected, the tokio task that appends the messages does this instead.
    pub(super) fn keeping(&self) -> Option<Transaction> {
        let Self::Answer(writer) = self else { return None };
        writer.upgrade()?.lock().as_mut().map(LogWriter::keeping)
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

/// Writer of an answer. It is empty after the stream has ended, and after the client has left or has resumed the stream elsewhere.
pub(super) struct AnswerWriter(Mutex<Option<LogWriter>>);

impl AnswerWriter {
    fn lock(&self) -> MutexGuard<'_, Option<LogWriter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends the remaining messages to the log in a tokio task of its own. Otherwise a client that reads slowly would delay them.
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
        (log, kept): (StreamLog, KeptEvents),
        session: Arc<HttpSession>,
        outbox: Arc<Outbox>,
        lines: Vec<u8>,
        requests: Vec<String>,
    ) -> Self {
        let announcement = Some(log.announcement(requests));
        let mut writer = LogWriter {
            log,
            kept,
            outbox,
            appending: None,
            announcement,
            ordinal: Some(0),
            last: 0,
            has_ended: false,
            has_gap: false,
            tries: 1,
        };
        writer.append(lines);
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
            let Some(lines) = &mut writer.appending else { return Poll::Ready(false) };
            let ids = ready!(lines.appending.as_mut().poll(cx));
            let lines = std::mem::take(&mut lines.lines);
            writer.appending = None;
            self.primes = false;
            if ids.is_ok() {
                sse::priming(frames, &sse::event_id(writer.log.number(), 0));
            }
            writer.appended(&lines, ids, frames);
            if !frames.is_empty() {
                return Poll::Ready(true);
            }
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
    /// Reads the events after the event `after`. `opened` is the version of the record `delivered` for stream 0, and `None` for any other
    /// stream.
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
            // The node stops, another reader has replaced this one, or the store no longer has the stream.
            sse::retry(frames, RETRY);
            return Poll::Ready(false);
        }
        while let Some(next) = event {
            match read(&next) {
                StreamEvent::Silence => {}
                StreamEvent::End => return Poll::Ready(false),
                StreamEvent::Message(line) => {
                    sse::numbered(frames, &sse::event_id(self.log.number(), next.id), line);
                    self.position = next.id;
                }
            }
            event = self.events.try_recv().ok();
        }
        if frames.is_empty() {
            // Events without a frame, which only keep the log from expiring, register no waker for the events after them.
            cx.waker().wake_by_ref();
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
    let (mut last, mut has_warned) = (0, false);
    loop {
        match tokio::time::timeout(LOOK, follower.next()).await {
            Ok(Ok(event)) => {
                let has_gap = last != 0 && event.id != last + 1;
                last = event.id;
                if has_gap && !std::mem::replace(&mut has_warned, true) {
                    tracing::warn!(
                        "a client may have missed messages of its stream, because the store has restarted, or because the client reads more slowly than the limit `events` allows"
                    );
                }
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
            Err(_) if log.number() != 0 => match log.answer_for_dead(revision).await {
                Ok(true) => {}
                // The client learns that the stream is gone when it resumes the stream again.
                Ok(false) => return,
                Err(why) => {
                    tracing::debug!("it is not known whether the node of a stream is live: {why}");
                }
            },
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        limits::Limits,
        node::ServerNode,
        protocol::OutboxHold,
        storage::{MemoryStore, Store as _},
        testing::{FaultyStore, StoreFault},
        transport::http::sse::Gone,
    };

    const IDLE: Duration = Duration::from_secs(1000);

    /// Writer of a new stream, its outbox, and its store. The hold keeps the outbox open.
    struct NewStream {
        writer: LogWriter,
        hold: OutboxHold,
        store: FaultyStore<Arc<MemoryStore>>,
        node: Arc<ServerNode>,
        memory: Arc<LogMemory>,
    }

    impl NewStream {
        async fn begin() -> Self {
            let store = FaultyStore::new(Arc::new(MemoryStore::new().shared()));
            let node = Arc::new(ServerNode::join(Arc::new(store.clone())).await.unwrap());
            node.receive().await.unwrap();
            // Only then does the node know which other nodes are live.
            tokio::time::sleep(Duration::from_secs(13)).await;
            let (partition, is_closing) = ("session:s".to_owned(), Arc::default());
            let log = StreamLog::new(&node, partition, 7, (10, IDLE), &is_closing);
            let memory = Arc::new(LogMemory::new(&Limits::new()));
            let kept = KeptEvents::new(memory.clone(), IDLE, None);
            let outbox = Arc::<Outbox>::default();
            let hold = outbox.hold();
            let announcement = Some(log.announcement(vec!["1".to_owned()]));
            let writer = LogWriter {
                log,
                kept,
                outbox,
                appending: None,
                announcement,
                ordinal: Some(0),
                last: 0,
                has_ended: false,
                has_gap: false,
                tries: 1,
            };
            Self { writer, hold, store, node, memory }
        }

        /// Lets further requests to the store fail.
        fn fail(&self, requests: usize) {
            for number in 0..requests {
                self.store.fault_at(self.store.requests() + number, StoreFault::FailsBefore);
            }
        }

        /// Writes lines, as for a client that reads along. Returns the frames.
        async fn write(&mut self, lines: &[u8]) -> String {
            self.writer.append(lines.to_vec());
            let mut frames = Vec::new();
            std::future::poll_fn(|cx| self.writer.poll(cx, &mut frames)).await;
            String::from_utf8(frames).unwrap()
        }
    }

    /// Returns the values of the events in the log.
    async fn events(log: &StreamLog, store: &FaultyStore<Arc<MemoryStore>>) -> Vec<String> {
        let (mut follower, mut found) = (log.follow(0), Vec::new());
        let read = StoreOperation::read("stream/7", 0, usize::MAX);
        let results = store.execute(vec![Transaction::on("session:s").then(read)]).await.unwrap();
        let count = match &results[0].as_ref().unwrap()[0] {
            crate::storage::Output::Events { events, .. } => events.len(),
            other => panic!("{other:?}"),
        };
        for _ in 0..count {
            let event = follower.next().await.unwrap();
            found.push(String::from_utf8(event.value).unwrap());
        }
        found
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_in_flight_is_appended_again_after_the_client_has_left() {
        let mut stream = NewStream::begin().await;
        stream.fail(1);
        // The client leaves before the store has answered.
        stream.writer.append(b"{}\n".to_vec());
        drop(stream.hold);
        let (log, store) = (stream.writer.log.clone(), stream.store);
        stream.writer.pump().await;
        assert_eq!(events(&log, &store).await, ["1 {}\n", "2 "]);
        assert_eq!(log.check(0).await.unwrap(), Ok(0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_whose_last_message_is_lost_is_gone_and_its_readers_end() {
        let mut stream = NewStream::begin().await;
        assert!(stream.write(b"{}\n").await.contains("id: 7-"));
        let (log, last) = (stream.writer.log.clone(), stream.writer.last);
        assert!(log.answer_for_dead(Revision::NEWEST_LEGACY).await.unwrap());
        // The store fails at the response, and at the end of the stream.
        stream.fail(4);
        assert!(!stream.write(b"{}\n").await.contains("id: 7-"));
        drop(stream.hold);
        let mut frames = Vec::new();
        assert!(!std::future::poll_fn(|cx| stream.writer.poll(cx, &mut frames)).await);
        let (sender, mut received) = mpsc::channel(AHEAD);
        let reading = read_along(log.clone(), last, sender, Revision::NEWEST_LEGACY);
        tokio::time::timeout(Duration::from_secs(60), reading).await.unwrap();
        assert!(received.recv().await.is_none());
        assert!(events(&log, &stream.store).await.is_empty());
        assert_eq!(log.check(last).await.unwrap(), Err(Gone::Unknown));
        assert_eq!(log.check(0).await.unwrap(), Err(Gone::Unknown));
        drop(stream.node);
    }

    /// A server that stops waits until its own reference to the bounds of the logs is the only one.
    #[tokio::test(start_paused = true)]
    async fn a_server_that_stops_waits_for_the_end_of_a_stream_that_the_store_did_not_take() {
        let mut stream = NewStream::begin().await;
        stream.write(b"{}\n").await;
        let (log, store, memory) = (stream.writer.log.clone(), stream.store, stream.memory);
        store.fault_at(store.requests(), StoreFault::FailsBefore);
        drop(stream.hold);
        let mut frames = Vec::new();
        assert!(!std::future::poll_fn(|cx| stream.writer.poll(cx, &mut frames)).await);
        drop(stream.writer);
        assert_eq!(events(&log, &store).await, ["1 {}\n"]);
        for _ in 0..200 {
            if Arc::strong_count(&memory) == 1 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(Arc::strong_count(&memory), 1);
        assert_eq!(events(&log, &store).await, ["1 {}\n", "2 "]);
        drop(stream.node);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_can_be_resumed_after_its_announcement_was_repeated() {
        let mut stream = NewStream::begin().await;
        stream.fail(1);
        assert!(!stream.write(b"{}\n").await.contains("id: 7-"));
        assert!(stream.write(b"{}\n").await.contains("id: 7-"));
        let log = stream.writer.log.clone();
        assert!(log.answer_for_dead(Revision::NEWEST_LEGACY).await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_gets_each_event_of_a_burst_that_is_larger_than_the_maximum_of_a_log() {
        let mut stream = NewStream::begin().await;
        let burst: String = (0..900).map(|number| format!("{{\"number\":{number}}}\n")).collect();
        stream.write(burst.as_bytes()).await;
        let (sender, mut received) = mpsc::channel(AHEAD);
        let log = stream.writer.log.clone();
        tokio::spawn(read_along(log, 0, sender, Revision::NEWEST_LEGACY));
        for line in burst.split_inclusive('\n') {
            let event = received.recv().await.unwrap();
            assert_eq!(read(&event), StreamEvent::Message(line.as_bytes()));
        }
        drop(stream.hold);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_whose_calls_are_silent_for_long_can_be_resumed() {
        let mut stream = NewStream::begin().await;
        stream.write(b"{}\n").await;
        let (log, last) = (stream.writer.log.clone(), stream.writer.last);
        // A client reads along.
        let answer = Arc::new(AnswerWriter(Mutex::new(Some(stream.writer))));
        let reader = AttachedReader::Answer(Arc::downgrade(&answer));
        for _ in 0..4 {
            tokio::time::advance(IDLE / 2).await;
            let keeping = reader.keeping().unwrap();
            assert!(stream.store.execute(vec![keeping]).await.unwrap()[0].is_ok());
        }
        assert_eq!(log.check(last).await.unwrap(), Ok(last));
        // The client has left.
        answer.release();
        assert!(reader.keeping().is_none());
        for _ in 0..8 {
            tokio::time::sleep(IDLE / 2).await;
        }
        assert_eq!(log.check(last).await.unwrap(), Ok(last));
        assert!(log.answer_for_dead(Revision::NEWEST_LEGACY).await.is_ok_and(|exists| exists));
        drop(stream.hold);
    }
}
