//! Sessions in a store that several nodes share: their records, and what this node knows of them.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{
    log_memory::{KeptEvents, LogMemory},
    session_places::SessionPlaces,
    session_table::SessionId,
    shared_stream::AttachedReader,
    sse::millis,
    sse_owners::SseOwners,
    stream_log::{DELIVERED, StreamLog},
};
use crate::{
    limits::Limits,
    node::{NodeId, ServerNode, Subject},
    protocol::{SavedClient, SessionSettings},
    storage::{
        self, Condition, Output, Record, Rejection, Store, StoreError, StoreOperation, Transaction,
    },
};

/// Record with the client of a session, as [`SavedClient`] writes it.
const CLIENT: &str = "client";

/// Record with the settings of a session, as JSON of [`SessionSettings`].
const SETTINGS: &str = "settings";

/// Time for which a session is kept whose client sends nothing after `initialize`.
const UNUSED: Duration = Duration::from_secs(60);

/// Time for which a node relies on its copy of a session without asking the store.
const FRESH: Duration = Duration::from_secs(1);

/// Record with the id of the node that sends the client the messages that belong to no request.
const HEARING: &str = "hearing";

/// Maximum size of a posted message in the log of the nodes, in bytes. Longer messages would fill the log, so they are in records.
const LONG: usize = 4 << 10;

/// Number of messages of a session that go into the log of the nodes at once, time between two more in milliseconds, and number of messages
/// that may wait.
const AT_ONCE: u64 = 64;
const EVERY: u64 = 10;
const MOST_WAITING: u64 = 256;

/// Time for which a long message is kept for the nodes.
const POSTED: Duration = Duration::from_secs(60);

/// Maximum number of attempts to change a record that other nodes change too.
const ATTEMPTS: usize = 16;

/// Sessions in a store that several nodes share.
pub(super) struct SharedSessions {
    store: Arc<dyn Store>,
    pub(super) node: Arc<ServerNode>,
    /// Time after which an unused session expires.
    idle: Duration,
    places: SessionPlaces,
    since: Instant,
    copies: Mutex<HashMap<SessionId, Arc<SessionCopy>>>,
    /// Sessions whose messages that belong to no request this node appends to a log.
    logged: Mutex<HashSet<SessionId>>,
    /// Readers of streams at this node, by session and stream.
    readers: Mutex<HashMap<(SessionId, u64), AttachedReader>>,
    /// Number of streams that this node has begun.
    streams: AtomicU64,
    memory: Arc<LogMemory>,
    /// Nodes that have the streams of protocol revision 2024-11-05.
    pub(super) sse_owners: Arc<SseOwners>,
}

/// What this node knows about the records of a session.
pub(super) struct SessionCopy {
    /// Time until which this node need not look into the store, in milliseconds since the start.
    fresh_until: AtomicU64,
    /// Newest settings that this node has seen.
    known: Mutex<StoredSettings>,
    /// Version of the record with the client that this node has.
    client: AtomicU64,
    /// Version of the record with the hearing node that this node has.
    heard: AtomicU64,
    /// Time after which this node renews the lease on the place of the session, in milliseconds since the start.
    renewed_at: AtomicU64,
    /// Time at which the next message may go into the log of the nodes, in milliseconds since the start.
    passes_at: AtomicU64,
    /// Locked while this node changes the settings in the store.
    changing: tokio::sync::Mutex<()>,
}

impl SessionCopy {
    /// Takes over settings, and passes them to `apply`, unless they are older than those that this node knows.
    fn learn(&self, loaded: StoredSettings, apply: impl FnOnce(&SessionSettings)) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded.version > known.version {
            apply(&loaded.settings);
            *known = loaded;
        }
    }

    fn known(&self) -> StoredSettings {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets the next request of the session look into the store.
    pub(super) fn distrust(&self) {
        self.fresh_until.store(0, Ordering::Relaxed);
    }
}

/// Message of a node about a session.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SessionMessage<'a> {
    /// The session with this id has ended.
    Ended(&'a str),
    /// The session has these settings.
    Settings(&'a str, StoredSettings),
    /// The session has continued with a new client.
    Client(&'a str),
    /// The sender now reads this stream of the session.
    Resumed(&'a str, u64),
    /// The sender now sends the client the messages that belong to no request. The number is the version of the record that says so.
    Heard(&'a str, u64),
    /// The client of the session has posted this message, which may be for a call of any node.
    Posted(&'a str, #[serde(borrow)] Cow<'a, str>),
    /// Like `Posted`, for a message in the record with this name.
    Stored(&'a str, #[serde(borrow)] Cow<'a, str>),
    /// The client of this session of protocol revision 2024-11-05 has posted a message to the sender, which has stored it in the record
    /// with this number. The message has so many bytes.
    Relayed(&'a str, u64, usize),
}

impl SharedSessions {
    pub(super) fn new(node: Arc<ServerNode>, limits: &Limits) -> Self {
        Self {
            store: node.store().clone(),
            sse_owners: Arc::new(SseOwners::new(node.clone())),
            node,
            idle: limits.session_idle,
            places: SessionPlaces::new(limits),
            since: Instant::now(),
            copies: Mutex::default(),
            logged: Mutex::default(),
            readers: Mutex::default(),
            streams: AtomicU64::new(0),
            memory: Arc::new(LogMemory::new(limits)),
        }
    }

    /// Returns the log of a stream of a session. Stream 0 is for messages that belong to no request.
    pub(super) fn stream(&self, id: &SessionId, number: u64) -> StreamLog {
        StreamLog::new(&self.node, id.partition(), number, (self.memory.most(), self.idle))
    }

    /// Returns the record of the events that a writer of a log appends.
    pub(super) fn kept(&self) -> KeptEvents {
        KeptEvents::new(self.memory.clone())
    }

    /// Returns the log of a new stream, whose number no other node uses.
    pub(super) fn new_stream(&self, id: &SessionId) -> StreamLog {
        const OWN: u64 = 1 << 20;
        let own = self.streams.fetch_add(1, Ordering::Relaxed) % (OWN - 1) + 1;
        self.stream(id, self.node.id().first_number() + own)
    }

    fn logged(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        self.logged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that this node appends the messages of a session that belong to no request to a log. Returns whether it did not before.
    pub(super) fn begins_log(&self, id: &SessionId) -> bool {
        self.logged().insert(*id)
    }

    /// Records that the session has ended at this node.
    pub(super) fn end_log(&self, id: &SessionId) {
        self.logged().remove(id);
    }

    fn readers(&self) -> MutexGuard<'_, HashMap<(SessionId, u64), AttachedReader>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the reader of a stream. The previous reader of the stream at this node gets no more events (rule HL-13).
    pub(super) fn attach(&self, id: &SessionId, stream: u64, reader: AttachedReader) {
        let mut readers = self.readers();
        if readers.len() == readers.capacity() {
            readers.retain(|_, reader| !reader.is_finished());
        }
        if let Some(previous) = readers.insert((*id, stream), reader) {
            previous.end();
        }
    }

    /// Ends all readers of a session at this node, or of all sessions.
    pub(super) fn detach_all(&self, id: Option<&SessionId>) {
        let is_meant = |key: &(SessionId, u64)| id.is_none_or(|id| *id == key.0);
        for (_, reader) in self.readers().extract_if(|key, _| is_meant(key)) {
            reader.end();
        }
    }

    /// Ends the reader of a stream at this node, because a reader at another node has replaced it.
    pub(super) fn detach(&self, id: &SessionId, stream: u64) {
        if let Some(previous) = self.readers().remove(&(*id, stream)) {
            previous.end();
        }
    }

    fn copies(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<SessionCopy>>> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn millis(&self) -> u64 {
        millis(self.since.elapsed())
    }

    fn fresh_until(&self) -> u64 {
        millis(self.since.elapsed() + FRESH)
    }

    /// Returns what this node knows about a session.
    pub(super) fn copy(&self, id: &SessionId) -> Option<Arc<SessionCopy>> {
        self.copies().get(id).cloned()
    }

    /// Returns whether this node may rely on its copy of the session without asking the store.
    pub(super) fn is_fresh(&self, id: &SessionId) -> bool {
        let now = self.millis();
        self.copies().get(id).is_some_and(|copy| now < copy.fresh_until.load(Ordering::Relaxed))
    }

    /// Forgets a session, which has ended or is not in use at this node any more.
    pub(super) fn forget(&self, id: &SessionId) {
        self.copies().remove(id);
    }

    /// Lets the next request of each session look into the store.
    pub(super) fn distrust_all(&self) {
        self.copies().values().for_each(|copy| copy.distrust());
    }

    /// Forgets the sessions for which `is_used` returns false.
    pub(super) fn retain(&self, is_used: impl Fn(&SessionId) -> bool) {
        self.copies().retain(|id, _| is_used(id));
        self.logged().retain(is_used);
    }

    /// Remembers a session that this node has begun or loaded. `client` is the version of the record with its client.
    pub(super) fn remember(&self, id: SessionId, client: u64, loaded: StoredSettings) {
        let copy = SessionCopy {
            fresh_until: AtomicU64::new(self.fresh_until()),
            known: Mutex::new(loaded),
            client: AtomicU64::new(client),
            heard: AtomicU64::new(0),
            renewed_at: AtomicU64::new(0),
            passes_at: AtomicU64::new(0),
            changing: tokio::sync::Mutex::default(),
        };
        self.copies().insert(id, Arc::new(copy));
    }

    async fn execute(
        &self,
        transaction: Transaction,
    ) -> Result<Result<Vec<Output>, Rejection>, StoreError> {
        let mut results = storage::execute(&*self.store, vec![transaction]).await?;
        results.pop().ok_or_else(|| StoreError::failed("the store has returned no result"))
    }

    /// Stores a session that has begun. Its records expire soon, unless the client sends a further message.
    ///
    /// # Errors
    /// The outer error says that the store is unavailable, the inner error why there is no place for the session.
    pub(super) async fn begin(
        &self,
        id: SessionId,
        client: &SavedClient,
    ) -> Result<Result<(), String>, StoreError> {
        let (settings, ttl) = (SessionSettings::default(), self.idle.min(UNUSED));
        let absent = Condition::Absent;
        let begin = Transaction::on(id.partition())
            .then(StoreOperation::put(HEARING, self.node.id().to_string(), ttl, absent))
            .then(StoreOperation::put(CLIENT, client.write(), ttl, absent))
            .then(StoreOperation::put(SETTINGS, json(&settings)?, ttl, absent));
        let enter = self.places.enter(&id, &client.principal, ttl);
        let results = storage::execute(&*self.store, vec![enter, begin]).await?;
        let Ok([entered, begun]) = <[_; 2]>::try_from(results) else {
            return Err(StoreError::failed("the store has returned other results"));
        };
        if let Err(rejection) = entered {
            let _ = self.execute(self.removing(&id)).await?;
            return Ok(Err(self.places.reason(rejection)));
        }
        match begun.as_deref() {
            Ok([_, Output::Version(client), Output::Version(version)]) => {
                self.remember(id, *client, StoredSettings { settings, version: *version });
                // The next request looks into the store, which then keeps the session for longer.
                if let Some(copy) = self.copy(&id) {
                    copy.distrust();
                }
                Ok(Ok(()))
            }
            _ => Err(StoreError::failed("the store has a session with a random new id")),
        }
    }

    /// Stores the new client of a session, which has been initialized again, and tells the other nodes.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn replace_client(
        &self,
        id: SessionId,
        client: &SavedClient,
    ) -> Result<(), StoreError> {
        let put = StoreOperation::put(CLIENT, client.write(), self.idle, Condition::Any);
        let outputs = self.execute(Transaction::on(id.partition()).then(put)).await?;
        if let (Some(copy), Some(Output::Version(client))) =
            (self.copy(&id), outputs.unwrap_or_default().first())
        {
            copy.client.store(*client, Ordering::Relaxed);
        }
        self.send(&SessionMessage::Client(&id.to_string())).await?;
        self.node.all_have_read(FRESH).await
    }

    /// Reads a session that began at another node. Returns `None` if there is no such session.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn load(&self, id: &SessionId) -> Result<Option<StoredSession>, StoreError> {
        let [client, settings, hearing] = self.read(id, [CLIENT, SETTINGS, HEARING], None).await?;
        let (Some(client), Some(settings)) = (client, settings) else { return Ok(None) };
        Ok(Some(StoredSession {
            version: client.version,
            client: saved(&client)?,
            settings: StoredSettings::of(&settings)?,
            hearing: hearing.as_ref().and_then(hearing_node),
        }))
    }

    /// Returns the node that sends the client of a session the messages that belong to no request, and the version of the record that says
    /// so. Does not keep the record from expiring.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn hearing(
        &self,
        id: &SessionId,
    ) -> Result<Option<(NodeId, u64)>, StoreError> {
        let read = Transaction::on(id.partition()).then(StoreOperation::get(HEARING));
        let outputs = self.execute(read).await?.unwrap_or_default();
        let Some(Output::Record(Some(record))) = outputs.first() else { return Ok(None) };
        Ok(hearing_node(record))
    }

    /// Records that this node sends the client of a session the messages that belong to no request, and tells the other nodes.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn hear(&self, id: &SessionId) -> Result<(), StoreError> {
        let node = self.node.id().to_string();
        let put = StoreOperation::put(HEARING, node, self.idle, Condition::Any);
        let outputs = self.execute(Transaction::on(id.partition()).then(put)).await?;
        match outputs.unwrap_or_default().first() {
            Some(Output::Version(version)) => {
                self.send(&SessionMessage::Heard(&id.to_string(), *version)).await
            }
            _ => Err(StoreError::failed("the store has returned no version")),
        }
    }

    /// Records the version of the record with the hearing node. Returns whether it is newer than the version that this node knows.
    pub(super) fn learn_hearing(&self, id: &SessionId, version: u64) -> bool {
        self.copy(id).is_some_and(|copy| copy.heard.fetch_max(version, Ordering::Relaxed) < version)
    }

    /// Reads records of a session, and keeps all its records from expiring. Executes `first` in the same round trip.
    async fn read<const N: usize>(
        &self,
        id: &SessionId,
        names: [&str; N],
        first: Option<Transaction>,
    ) -> Result<[Option<Record>; N], StoreError> {
        let get = |read: Transaction, name: &&str| read.then(StoreOperation::get(*name));
        let read = names.iter().fold(self.touching(id), get);
        let transactions = first.into_iter().chain([read]).collect();
        let mut results = storage::execute(&*self.store, transactions).await?;
        let outputs = results.pop().and_then(Result::ok).unwrap_or_default();
        let mut records = outputs.into_iter().filter_map(|output| match output {
            Output::Record(record) => Some(record),
            _ => None,
        });
        Ok([(); N].map(|()| records.next().flatten()))
    }

    fn touching(&self, id: &SessionId) -> Transaction {
        let touch = |name: &str| StoreOperation::Touch { name: name.to_owned(), ttl: self.idle };
        Transaction::on(id.partition())
            .then(touch(CLIENT))
            .then(touch(SETTINGS))
            .then(touch(HEARING))
    }

    /// Returns the transaction that renews the leases on the places of a session, if it is time to do so.
    fn renewal(&self, id: &SessionId, copy: &SessionCopy, principal: &str) -> Option<Transaction> {
        let now = self.millis();
        let next = now + millis(self.idle / 8);
        let is_due = |at: u64| (at <= now).then_some(next);
        copy.renewed_at.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_due).ok()?;
        Some(self.places.enter(id, principal, self.idle))
    }

    /// Keeps the records of these sessions from expiring. Each is given with its principal.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn keep(&self, sessions: &[(SessionId, String)]) -> Result<(), StoreError> {
        for some in sessions.chunks(256) {
            let mut transactions: Vec<_> = some.iter().map(|(id, _)| self.touching(id)).collect();
            for (id, principal) in some {
                transactions.push(self.places.enter(id, principal, self.idle));
            }
            storage::execute(&*self.store, transactions).await?;
        }
        Ok(())
    }

    /// Reads a session again, and passes its client and its settings to `replace` and `apply` if they have changed. Returns `false` if the
    /// session has ended.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn refresh(
        &self,
        id: &SessionId,
        copy: &SessionCopy,
        principal: &str,
        (replace, apply): (impl FnOnce(&SavedClient), impl FnOnce(&SessionSettings)),
    ) -> Result<bool, StoreError> {
        let renewal = self.renewal(id, copy, principal);
        let [client, settings] = self.read(id, [CLIENT, SETTINGS], renewal).await?;
        let (Some(client), Some(settings)) = (client, settings) else { return Ok(false) };
        if client.version > copy.client.load(Ordering::Relaxed) {
            replace(&saved(&client)?);
            copy.client.fetch_max(client.version, Ordering::Relaxed);
        }
        if settings.version != copy.known().version {
            copy.learn(StoredSettings::of(&settings)?, apply);
        }
        copy.fresh_until.store(self.fresh_until(), Ordering::Relaxed);
        Ok(true)
    }

    /// Takes over the settings that another node has stored, and passes them to `apply` if they are new.
    pub(super) fn learn(
        &self,
        id: &SessionId,
        new: StoredSettings,
        apply: impl FnOnce(&SessionSettings),
    ) {
        if let Some(copy) = self.copy(id) {
            copy.learn(new, apply);
        }
    }

    /// Stores the changes that the client has made at this node, and tells the other nodes. `before` and `after` are the settings at this
    /// node. Passes the settings that result to `apply`.
    ///
    /// # Errors
    /// Fails if the store is unavailable, or if the session has ended.
    pub(super) async fn change(
        &self,
        id: &SessionId,
        copy: &SessionCopy,
        (before, after): (&SessionSettings, &SessionSettings),
        apply: impl FnOnce(&SessionSettings),
    ) -> Result<(), StoreError> {
        let _changing = copy.changing.lock().await;
        let mut known = copy.known();
        for _ in 0..ATTEMPTS {
            let settings = known.settings.changed(before, after);
            let condition = Condition::Version(known.version);
            let put = StoreOperation::put(SETTINGS, json(&settings)?, self.idle, condition);
            let change = self.touching(id).then(put);
            if let Ok(outputs) = self.execute(change).await? {
                let Some(Output::Version(version)) = outputs.last() else { break };
                let new = StoredSettings { settings, version: *version };
                copy.learn(new.clone(), apply);
                // An update that follows in the log finds the subscription at the node that sends it to the client.
                self.send(&SessionMessage::Settings(&id.to_string(), new)).await?;
                if before.has_other_level(after) {
                    // The next call may run at another node, which has to know which log messages the client wants.
                    self.node.all_have_read(FRESH).await?;
                }
                return Ok(());
            }
            let read = Transaction::on(id.partition()).then(StoreOperation::get(SETTINGS));
            let outputs = self.execute(read).await?.unwrap_or_default();
            let Some(Output::Record(Some(settings))) = outputs.last() else {
                return Err(StoreError::failed("the session has ended"));
            };
            known = StoredSettings::of(settings)?;
        }
        Err(StoreError::unavailable("other nodes change the session all the time"))
    }

    /// Ends a session at all nodes.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn end(&self, id: &SessionId, principal: &str) -> Result<(), StoreError> {
        self.forget(id);
        let end = vec![self.removing(id), self.places.leave(id, principal)];
        storage::execute(&*self.store, end).await?;
        self.send(&SessionMessage::Ended(&id.to_string())).await
    }

    fn removing(&self, id: &SessionId) -> Transaction {
        let remove = |name: &str| StoreOperation::remove(name, Condition::Any);
        let names = [CLIENT, SETTINGS, HEARING, DELIVERED];
        let removals =
            names.iter().fold(Transaction::on(id.partition()), |end, name| end.then(remove(name)));
        removals.then(self.stream(id, 0).clearing())
    }

    /// Returns how long the next message of a session has to wait before it goes into the log of the nodes. Returns `None` if too many
    /// messages wait already.
    fn pause(&self, id: &SessionId) -> Option<Duration> {
        let Some(copy) = self.copy(id) else { return Some(Duration::ZERO) };
        let now = self.millis();
        let next = |at: u64| next_pass(at, now);
        let before =
            copy.passes_at.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()?;
        Some(Duration::from_millis(before.saturating_sub(now)))
    }

    /// Passes a message that the client has posted to all nodes. A client that posts many messages waits, so that they do not push messages
    /// of others out of the log.
    ///
    /// # Errors
    /// Fails if the store is unavailable, or if too many messages wait.
    pub(super) async fn pass_on(&self, id: &SessionId, body: String) -> Result<(), StoreError> {
        let session = id.to_string();
        let too_many = || StoreError::unavailable("too many messages of this session wait for it");
        tokio::time::sleep(self.pause(id).ok_or_else(too_many)?).await;
        if body.len() <= LONG {
            return self.send(&SessionMessage::Posted(&session, body.into())).await;
        }
        let number = self.streams.fetch_add(1, Ordering::Relaxed);
        let name = format!("posted/{}/{number}", self.node.id());
        let put = StoreOperation::put(&*name, body, POSTED, Condition::Any);
        let _ = self.execute(Transaction::on(id.partition()).then(put)).await?;
        self.send(&SessionMessage::Stored(&session, name.into())).await
    }

    /// Returns a long message that a client has posted, unless it has expired.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn posted(
        &self,
        id: &SessionId,
        name: &str,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let read = Transaction::on(id.partition()).then(StoreOperation::get(name));
        let outputs = self.execute(read).await?.unwrap_or_default();
        Ok(match outputs.into_iter().next() {
            Some(Output::Record(record)) => record.map(|record| record.value),
            _ => None,
        })
    }

    /// Sends a message to all nodes, this one included. The message is in the log when the method returns.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn send(&self, message: &SessionMessage<'_>) -> Result<(), StoreError> {
        let body = serde_json::to_string(message);
        let body = body.map_err(|why| StoreError::failed(why.to_string()))?;
        self.node.send(Subject::Sessions, &body).await
    }
}

/// Session as the store has it.
pub(super) struct StoredSession {
    pub(super) client: SavedClient,
    /// Version of the record with the client.
    pub(super) version: u64,
    pub(super) settings: StoredSettings,
    /// Node that sends the client the messages that belong to no request, and the version of the record that says so.
    pub(super) hearing: Option<(NodeId, u64)>,
}

fn hearing_node(record: &Record) -> Option<(NodeId, u64)> {
    let node = str::from_utf8(&record.value).ok().and_then(NodeId::parse)?;
    Some((node, record.version))
}

/// Reads the record with the client of a session.
fn saved(record: &Record) -> Result<SavedClient, StoreError> {
    let damaged = || StoreError::failed("the record of a session is damaged");
    SavedClient::read(&record.value).ok_or_else(damaged)
}

/// Settings of a session as the store has them, and the version of their record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredSettings {
    pub(super) settings: SessionSettings,
    version: u64,
}

impl StoredSettings {
    fn of(record: &Record) -> Result<Self, StoreError> {
        let settings = serde_json::from_slice(&record.value);
        let settings = settings.map_err(|why| {
            StoreError::failed(format_args!("the settings of a session are damaged: {why}"))
        })?;
        Ok(Self { settings, version: record.version })
    }
}

fn json(settings: &SessionSettings) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(settings).map_err(|why| StoreError::failed(why.to_string()))
}

/// Returns the time at which the message after a message passes, if this message passes at `at` or, if that is past, now. Returns `None` if
/// too many messages wait already. All times are in milliseconds.
fn next_pass(at: u64, now: u64) -> Option<u64> {
    let next = at.max(now.saturating_sub(AT_ONCE * EVERY)) + EVERY;
    (next <= now + MOST_WAITING * EVERY).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::ClientInfo, protocol::Revision, storage::MemoryStore};

    #[tokio::test(start_paused = true)]
    async fn a_session_without_a_further_message_is_kept_for_a_short_time_only() {
        let store = Arc::new(MemoryStore::new().shared());
        let node = Arc::new(ServerNode::join(store).await.unwrap());
        let shared = SharedSessions::new(node, &Limits::new());
        let client = SavedClient {
            revision: Revision::parse("2025-11-25").unwrap(),
            client: Arc::new(ClientInfo::default()),
            principal: String::new(),
        };
        let [unused, used] = [(); 2].map(|()| SessionId::unguessable().unwrap());
        for id in [unused, used] {
            shared.begin(id, &client).await.unwrap().unwrap();
            assert!(!shared.is_fresh(&id));
        }
        let copy = shared.copy(&used).unwrap();
        let is_open = shared.refresh(&used, &copy, "", (|_: &_| (), |_: &_| ())).await.unwrap();
        assert!(is_open && shared.is_fresh(&used));
        tokio::time::advance(UNUSED).await;
        assert!(shared.load(&unused).await.unwrap().is_none());
        assert!(shared.load(&used).await.unwrap().is_some());
        tokio::time::advance(Limits::new().session_idle).await;
        assert!(shared.load(&used).await.unwrap().is_none());
    }

    #[test]
    fn messages_of_a_client_pass_at_once_then_wait_and_are_refused_at_last() {
        let now = 1_000_000;
        let pass = |at: &mut u64| {
            let before = *at;
            *at = next_pass(before, now)?;
            Some(before.saturating_sub(now))
        };
        let mut at = 0;
        for _ in 0..=AT_ONCE {
            assert_eq!(pass(&mut at), Some(0));
        }
        for number in 1..MOST_WAITING {
            assert_eq!(pass(&mut at), Some(number * EVERY));
        }
        assert_eq!(pass(&mut at), None);
        assert!(next_pass(at, now + EVERY).is_some());
    }
}
