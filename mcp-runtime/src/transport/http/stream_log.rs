//! Logs of streams in a store that several nodes share. Any node can read the events of a stream, even after the node that ran its calls
//! has died.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use mcp_runtime_wire::{Id, Raw, validate, write::end_line};
use serde::{Deserialize, Serialize};

use super::sse::Gone;
use crate::{
    error::{Error, ErrorKind},
    node::{NodeId, ServerNode},
    protocol::{Revision, unread},
    storage::{
        self, Condition, Follower, LogEvent, Output, Record, StoreError, StoreOperation,
        Transaction, TransactionResult,
    },
};

/// Time for which the events of a stream are kept after its end. During this time, a client whose connection broke before the end can still
/// resume the stream.
pub(super) const KEPT: Duration = Duration::from_secs(60);

/// Record with the id of the last event of stream 0 that the client has received.
pub(super) const DELIVERED: &str = "delivered";

/// Line of an event that only keeps a log from expiring.
pub(super) const SILENCE: &[u8] = b"\n";

/// Number of events that no log has.
const ALL: usize = 1 << 24;

/// Maximum depth of a message in a log.
const DEPTH: usize = 1024;

/// Log of a stream.
#[derive(Clone)]
pub(super) struct StreamLog {
    node: Arc<ServerNode>,
    partition: String,
    number: u64,
    /// Maximum number of events, unless a writer names another number.
    most: usize,
    /// Time after which the log expires, unless an event is appended.
    ttl: Duration,
    /// Set when this node cancels the calls that still run, because it stops.
    is_closing: Arc<AtomicBool>,
}

/// Record of a stream that answers requests.
#[derive(Serialize, Deserialize)]
struct StreamRecord {
    /// Id of the node that runs the calls. Empty if that node has stopped or died, and the requests without a response were answered with
    /// errors.
    node: String,
    /// Ids of the requests, as JSON texts.
    requests: Vec<String>,
}

/// Event of a stream, as the log holds it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StreamEvent<'a> {
    /// Message with its newline.
    Message(&'a [u8]),
    /// Nothing for the client.
    Silence,
    /// End of the stream.
    End,
}

impl StreamLog {
    /// Returns the log of a stream of a session. `partition` is the partition of the session. `is_closing` is set when this node cancels the
    /// calls that still run, because it stops.
    pub(super) fn new(
        node: &Arc<ServerNode>,
        partition: String,
        number: u64,
        (most, ttl): (usize, Duration),
        is_closing: &Arc<AtomicBool>,
    ) -> Self {
        let (node, is_closing) = (node.clone(), is_closing.clone());
        Self { node, partition, number, most, ttl, is_closing }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    fn name(&self) -> String {
        format!("stream/{}", self.number)
    }

    fn event(&self, ordinal: u64, line: &[u8], ttl: Duration, most: usize) -> StoreOperation {
        let mut value = match self.number {
            // Several nodes write this stream.
            0 => format!("{}/{ordinal} ", self.node.id()),
            _ => format!("{ordinal} "),
        }
        .into_bytes();
        value.extend_from_slice(line);
        StoreOperation::append(self.name(), value, ttl, most)
    }

    async fn execute(
        &self,
        operations: Vec<StoreOperation>,
    ) -> Result<TransactionResult, StoreError> {
        let transaction = Transaction { partition: self.partition.clone(), operations };
        let mut results = storage::execute(&**self.node.store(), vec![transaction]).await?;
        results.pop().ok_or_else(|| StoreError::failed("the store has returned no result"))
    }

    /// Returns the operation that announces the stream. `requests` are the ids of the requests that it answers, as JSON texts.
    pub(super) fn announcement(&self, requests: Vec<String>) -> StoreOperation {
        let record = StreamRecord { node: self.node.id().to_string(), requests };
        let record = serde_json::to_vec(&record).unwrap_or_default();
        StoreOperation::put(self.name(), record, self.ttl, Condition::Any)
    }

    /// Executes the operations `first`, and appends messages, each with its newline, in the same transaction. The log keeps at most `most`
    /// events. `ordinal` is the number of events that this writer has appended before. Returns the ids of the events. If the messages are
    /// appended again after an error, with the same ordinal, readers skip repeated messages.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn append(
        &self,
        mut first: Vec<StoreOperation>,
        lines: &[u8],
        ordinal: u64,
        most: usize,
    ) -> Result<Vec<u64>, StoreError> {
        let lines = lines.split_inclusive(|byte| *byte == b'\n');
        first.extend(
            lines.zip(1..).map(|(line, at)| self.event(ordinal + at, line, self.ttl, most)),
        );
        if self.number != 0 {
            first.push(StoreOperation::Touch { name: self.name(), ttl: self.ttl });
        }
        let outputs = self.execute(first).await?.unwrap_or_default();
        let id = |output: Output| match output {
            Output::Appended(id) => Some(id),
            _ => None,
        };
        Ok(outputs.into_iter().filter_map(id).collect())
    }

    /// Returns the operation that removes all events. It is for a log with missing events, so that no client resumes the stream without them.
    pub(super) fn clearing(&self) -> StoreOperation {
        StoreOperation::Clear { log: self.name() }
    }

    /// Ends the stream. `ordinal` is the number of events before the end. If this node stops, the requests without a response are answered
    /// with an error, because their calls were cancelled.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn end(&self, ordinal: u64) -> Result<(), StoreError> {
        if self.is_closing.load(Ordering::Relaxed)
            && let Some((record, version)) = self.record().await?
        {
            return self.answer_rest(record, version, Revision::NEWEST_LEGACY).await;
        }
        let end = self.event(ordinal + 1, b"", KEPT, self.most);
        let touch = StoreOperation::Touch { name: self.name(), ttl: KEPT };
        self.execute(vec![end, touch]).await.map(drop)
    }

    /// Removes the stream with all of its events, so that no client resumes it.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn remove(&self) -> Result<(), StoreError> {
        let record = StoreOperation::remove(self.name(), Condition::Any);
        self.execute(vec![self.clearing(), record]).await.map(drop)
    }

    /// Returns the time after which the stream expires, unless an event is appended.
    pub(super) fn lifetime(&self) -> Duration {
        self.ttl
    }

    /// Returns the transaction that extends the lifetime of the stream. `most` is the maximum number of events that the log may keep, and
    /// `None` if the log has no events that could expire.
    pub(super) fn keeping(&self, most: Option<usize>) -> Transaction {
        let touch = StoreOperation::Touch { name: self.name(), ttl: self.ttl };
        let mut operations = vec![touch];
        operations.extend(most.map(|most| self.event(0, SILENCE, self.ttl, most)));
        Transaction { partition: self.partition.clone(), operations }
    }

    /// Executes the transaction that [`keeping`](Self::keeping) has returned.
    pub(super) async fn keep(&self, keeping: Transaction) {
        if let Err(why) = self.execute(keeping.operations).await {
            tracing::debug!("a stream may expire: {why}");
        }
    }

    /// Checks whether the stream can be resumed after an event. Returns the id of the event.
    ///
    /// # Errors
    /// The outer error says that the store is unavailable.
    pub(super) async fn check(&self, after: u64) -> Result<Result<u64, Gone>, StoreError> {
        // Reads the event itself too, to see whether the log has lost what came after it.
        let read = StoreOperation::read(self.name(), after.saturating_sub(1), 2);
        let look = vec![StoreOperation::get(self.name()), read];
        let mut outputs = self.execute(look).await?.unwrap_or_default().into_iter();
        let (Some(Output::Record(record)), Some(Output::Events { events, .. })) =
            (outputs.next(), outputs.next())
        else {
            return Err(StoreError::failed("the store has returned other outputs"));
        };
        let continues = match (after, &events[..]) {
            (0, []) => {
                return Ok(if record.is_some() || self.number == 0 {
                    Ok(0)
                } else {
                    Err(Gone::Unknown)
                });
            }
            (_, []) => return Ok(Err(Gone::Unknown)),
            // The first event of a stream that answers requests has the ordinal 1.
            (0, [first, ..]) => self.number == 0 || ordinal(first) == 1,
            (_, [first, ..]) if first.id == after + 1 => true,
            (_, [first, next, ..]) if first.id == after && next.id != after + 1 => {
                // The store may have lost events between these two. Only a stream with a single writer has ordinals that show this.
                self.number == 0 || [0, ordinal(first) + 1].contains(&ordinal(next))
            }
            (_, [first, ..]) => first.id == after,
        };
        Ok(if continues { Ok(after) } else { Err(Gone::Forgotten) })
    }

    /// Returns the id of the last event, or 0 if there is none.
    async fn last(&self) -> Result<u64, StoreError> {
        let outputs = self.execute(vec![StoreOperation::read(self.name(), 0, 1)]).await?;
        Ok(match outputs.unwrap_or_default().first() {
            Some(Output::Events { last, .. }) => *last,
            _ => 0,
        })
    }

    /// Stores the id of the last event that the client has received, for a client that reconnects without `Last-Event-ID`. `version`
    /// is the version of the record that [`open_delivered`](Self::open_delivered) has returned. If the record has another version,
    /// this method does nothing, because the session has ended or the client has opened a further stream.
    pub(super) async fn set_delivered(self, event: u64, version: u64) {
        let (value, condition) = (event.to_string().into_bytes(), Condition::Version(version));
        let put = StoreOperation::put(DELIVERED, value, self.ttl, condition);
        if let Err(why) = self.execute(vec![put]).await {
            tracing::debug!("a client that reconnects may miss messages: {why}");
        }
    }

    /// Records that the client has opened stream 0. Returns the event after which a client without `Last-Event-ID` continues, and the
    /// version of the record for [`set_delivered`](Self::set_delivered).
    ///
    /// The event is the last event that the client has received. It is 0 if the client opens this stream for the first time. If the
    /// previous reader of the stream has not ended yet, it is the last event of the log.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn open_delivered(&self) -> Result<(u64, u64), StoreError> {
        let take = vec![
            StoreOperation::get(DELIVERED),
            StoreOperation::put(DELIVERED, *b"open", self.ttl, Condition::Any),
        ];
        let outputs = self.execute(take).await?.unwrap_or_default();
        let Some(Output::Version(version)) = outputs.last() else { return Ok((0, 0)) };
        let Some(Output::Record(Some(record))) = outputs.first() else { return Ok((0, *version)) };
        let delivered = str::from_utf8(&record.value).ok().and_then(|text| text.parse().ok());
        match delivered {
            Some(delivered) => Ok((delivered, *version)),
            None => Ok((self.last().await?, *version)),
        }
    }

    /// Follows the log. Begins so early that the reader knows the ordinals before the event `after`, and can skip events that come twice.
    pub(super) fn follow(&self, after: u64) -> Box<dyn Follower> {
        // In a stream with one writer, the event `after` has the last ordinal. With several writers, the last ordinal of each of them may be in
        // any earlier event.
        let after = if self.number == 0 { 0 } else { after.saturating_sub(1) };
        self.node.store().follow(&self.partition, &self.name(), after)
    }

    /// If the node that runs the calls of the stream has died, answers their requests, and ends the stream. If several nodes call this
    /// method at the same time, only one of them answers. Returns `false` if the store has no such stream.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn answer_for_dead(&self, revision: Revision) -> Result<bool, StoreError> {
        let Some((record, version)) = self.record().await? else { return Ok(false) };
        let Some(owner) = NodeId::parse(&record.node) else { return Ok(true) };
        if !self.node.has_left(owner) && self.node.live_nodes().await?.contains(&owner) {
            return Ok(true);
        }
        self.answer_rest(record, version, revision).await.map(|()| true)
    }

    /// Returns the record of the stream, and its version.
    async fn record(&self) -> Result<Option<(StreamRecord, u64)>, StoreError> {
        let outputs = self.execute(vec![StoreOperation::get(self.name())]).await?;
        let Some(Output::Record(Some(Record { value, version }))) =
            outputs.unwrap_or_default().into_iter().next()
        else {
            return Ok(None);
        };
        // No node answers the requests of a damaged record.
        let damaged = || StreamRecord { node: String::new(), requests: Vec::new() };
        Ok(Some((serde_json::from_slice(&value).unwrap_or_else(|_| damaged()), version)))
    }

    /// Answers each request that has no response yet with an error, because its call no longer runs. Then ends the stream. Does
    /// nothing if the record has another version, because another node has answered these requests.
    async fn answer_rest(
        &self,
        StreamRecord { mut requests, .. }: StreamRecord,
        version: u64,
        revision: Revision,
    ) -> Result<(), StoreError> {
        // The log may have more events than `most`, because it keeps recent ones. Their number of bytes is bounded.
        let read = StoreOperation::read(self.name(), 0, ALL);
        let outputs = self.execute(vec![read]).await?;
        let Some(Output::Events { events, .. }) = outputs.unwrap_or_default().into_iter().next()
        else {
            return Ok(());
        };
        let taken = StreamRecord { node: String::new(), requests: Vec::new() };
        let taken = serde_json::to_vec(&taken).unwrap_or_default();
        let condition = Condition::Version(version);
        let mut answer = vec![StoreOperation::put(self.name(), taken, KEPT, condition)];
        let error = Error::of(
            ErrorKind::Failed,
            "the server process that ran this call has ended: call again if the call may run twice",
        );
        requests.retain(|request| !events.iter().any(|event| answers(event, request)));
        for request in &requests {
            let mut line = unread(Some(revision), Id::parse(Raw::trusted(request)), &error);
            end_line(&mut line, 0);
            answer.push(self.event(0, &line, KEPT, self.most));
        }
        answer.push(self.event(0, b"", KEPT, self.most));
        self.execute(answer).await.map(drop)
    }
}

/// Returns the ordinal of an event, or 0 if it has none.
fn ordinal(event: &LogEvent) -> u64 {
    place(event).1
}

/// Returns the node that has written an event, and the ordinal of the event. The node is `None` if the stream has a single writer. The ordinal
/// is 0 if the event has none.
fn place(event: &LogEvent) -> (Option<NodeId>, u64) {
    let place = event.value.split(|byte| *byte == b' ').next().unwrap_or_default();
    let place = str::from_utf8(place).unwrap_or_default();
    let (writer, digits) =
        place.split_once('/').map_or((None, place), |(node, digits)| (NodeId::parse(node), digits));
    (writer, digits.parse().unwrap_or(0))
}

/// Finds events that come twice, because a writer has appended them again after an error.
#[derive(Default)]
pub(super) struct SeenEvents {
    /// Last ordinal of a stream with one writer. `last_of` has the last ordinal of each writer of a stream with several writers.
    last: u64,
    last_of: HashMap<NodeId, u64>,
}

impl SeenEvents {
    /// Adds an event. Returns whether it has come before.
    pub(super) fn add(&mut self, event: &LogEvent) -> bool {
        let (writer, ordinal) = place(event);
        let last = match writer {
            Some(writer) => self.last_of.entry(writer).or_default(),
            None => &mut self.last,
        };
        let is_repeated = ordinal != 0 && ordinal <= *last;
        *last = ordinal.max(*last);
        is_repeated
    }
}

/// Returns whether an event is the response to the request with this id. The event may have escapes that the id does not have.
fn answers(event: &LogEvent, request: &str) -> bool {
    let StreamEvent::Message(line) = read(event) else { return false };
    let Ok(message) = validate(line.trim_ascii_end(), DEPTH) else { return false };
    let [id, method] = message.pick(["id", "method"]);
    let request = Raw::trusted(request);
    let is_same =
        |id: Raw<'_>| id == request || id.string().is_some_and(|id| Some(id) == request.string());
    method.is_none() && id.is_some_and(is_same)
}

/// Reads an event of a stream.
pub(super) fn read(event: &LogEvent) -> StreamEvent<'_> {
    let at = event.value.iter().position(|byte| *byte == b' ').map_or(0, |at| at + 1);
    match &event.value[at..] {
        [] => StreamEvent::End,
        SILENCE => StreamEvent::Silence,
        line => StreamEvent::Message(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_of_a_writer_that_comes_twice_is_found_among_those_of_other_writers() {
        let [one, two] = ["00000000000000aa", "00000000000000bb"];
        let events = [
            (format!("{one}/1 a"), false),
            (format!("{two}/1 b"), false),
            (format!("{one}/1 a"), true),
            (format!("{one}/2 c"), false),
            (format!("{one}/1 a"), true),
            (format!("{two}/1 b"), true),
            ("1 d".to_owned(), false),
            ("1 d".to_owned(), true),
            ("0 e".to_owned(), false),
            ("0 e".to_owned(), false),
        ];
        let mut seen = SeenEvents::default();
        for ((value, is_repeated), id) in events.into_iter().zip(1..) {
            let event = LogEvent { id, value: value.into_bytes() };
            assert_eq!(seen.add(&event), is_repeated, "event {id}");
        }
    }
}
