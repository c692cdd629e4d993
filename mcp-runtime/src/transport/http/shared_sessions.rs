//! Sessions in a store that several nodes share: their records, and this node's copies of these records.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use super::{
    log_memory::{KeptEvents, LogMemory},
    session_copy::{SessionCopy, StoredSession, StoredSettings, hearing_node, json, saved},
    session_message::{LONG, SessionMessage, StoredChange},
    session_places::SessionPlaces,
    session_table::SessionId,
    shared_stream::AttachedReader,
    sse::millis,
    sse_owners::SseOwners,
    stream_log::{DELIVERED, KEPT, StreamLog},
};
use crate::{
    limits::Limits,
    node::{NodeId, ServerNode, Subject},
    protocol::{SavedClient, SessionSettings, SettingsChange},
    storage::{
        self, Condition, Output, Record, Rejection, Store, StoreError, StoreOperation, Transaction,
    },
};

/// Record with the client of a session, as [`SavedClient`] writes it.
const CLIENT: &str = "client";

/// Record with the settings of a session, as JSON of [`SessionSettings`].
const SETTINGS: &str = "settings";

/// Time after which a session expires if its client sends nothing after `initialize`.
const UNUSED: Duration = Duration::from_secs(60);

/// Time for which a node relies on its copy of a session without asking the store.
const FRESH: Duration = Duration::from_secs(1);

/// Record with the id of the node that sends the client the messages that belong to no request.
const HEARING: &str = "hearing";

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
    /// Sessions for which this node writes the log of stream 0, with the messages that belong to no request. The value becomes `true` when
    /// the session ends and the store removes its log.
    logged: Mutex<HashMap<SessionId, Arc<AtomicBool>>>,
    /// Readers of streams at this node, by session and stream.
    readers: Mutex<HashMap<(SessionId, u64), AttachedReader>>,
    /// Number of streams that this node has begun, and of long messages that it has stored.
    streams: AtomicU64,
    memory: Arc<LogMemory>,
    /// Nodes that have the streams of protocol revision 2024-11-05.
    pub(super) sse_owners: Arc<SseOwners>,
    /// Set when this node cancels the calls that still run, because it stops.
    is_closing: Arc<AtomicBool>,
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
            is_closing: Arc::default(),
        }
    }

    /// Returns the log of a stream of a session. Stream 0 is for messages that belong to no request.
    pub(super) fn stream(&self, id: &SessionId, number: u64) -> StreamLog {
        let bounds = (self.memory.most(), self.idle);
        StreamLog::new(&self.node, id.partition(), number, bounds, &self.is_closing)
    }

    /// Records that this node stops. From now on, the streams of cancelled calls end with errors.
    pub(super) fn begin_close(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
    }

    /// Waits until the ends of all streams are stored, but no longer than `most`.
    pub(super) async fn finish_logs(&self, most: Duration) {
        let until = Instant::now() + most;
        // Each writer of a log holds a reference, and so does each tokio task that still has to store an end.
        while Arc::strong_count(&self.memory) > 1 && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Returns the size counter for the events that a new writer of a log appends. `is_cleared` tells whether the store has removed the log.
    pub(super) fn kept(&self, log: &StreamLog, is_cleared: Option<Arc<AtomicBool>>) -> KeptEvents {
        let after = if log.number() == 0 { log.lifetime() } else { KEPT };
        KeptEvents::new(self.memory.clone(), after, is_cleared)
    }

    /// Returns the log of a new stream, whose number no other node uses.
    pub(super) fn new_stream(&self, id: &SessionId) -> StreamLog {
        const OWN: u64 = 1 << 20;
        let own = self.streams.fetch_add(1, Ordering::Relaxed) % (OWN - 1) + 1;
        self.stream(id, self.node.id().first_number() + own)
    }

    fn logged(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<AtomicBool>>> {
        self.logged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that this node logs the messages of a session that belong to no request. Returns `None` if this was recorded before, and
    /// otherwise the value that [`clear_log`](Self::clear_log) sets.
    pub(super) fn begins_log(&self, id: &SessionId) -> Option<Arc<AtomicBool>> {
        match self.logged().entry(*id) {
            Entry::Occupied(_) => None,
            Entry::Vacant(vacant) => Some(vacant.insert(Arc::default()).clone()),
        }
    }

    /// Records that this node no longer logs the messages of a session that belong to no request.
    pub(super) fn end_log(&self, id: &SessionId) -> Option<Arc<AtomicBool>> {
        self.logged().remove(id)
    }

    /// Records that the session has ended, so that the store has removed the log.
    pub(super) fn clear_log(&self, id: &SessionId) {
        if let Some(is_cleared) = self.end_log(id) {
            is_cleared.store(true, Ordering::Relaxed);
        }
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

    /// Ends the reader of a stream at this node, because the client now reads the stream at another node.
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

    /// Returns this node's copy of a session.
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

    /// Makes the next request of each session read the store.
    pub(super) fn distrust_all(&self) {
        self.copies().values().for_each(|copy| copy.distrust());
    }

    /// Forgets the sessions for which `is_used` returns false.
    pub(super) fn retain(&self, is_used: impl Fn(&SessionId) -> bool) {
        self.copies().retain(|id, _| is_used(id));
        self.logged().retain(|id, _| is_used(id));
    }

    /// Adds the copy of a session that this node has loaded, and passes its client and its settings to `replace` and `apply`. If another
    /// request has loaded the session at the same time, the newer client and the newer settings stay.
    pub(super) fn remember_loaded(
        &self,
        id: &SessionId,
        loaded: StoredSession,
        (replace, apply): (impl FnOnce(&SavedClient), impl FnOnce(&SessionSettings)),
    ) {
        let unknown = || SessionCopy::new(&loaded.client.caller, 0, 0, StoredSettings::default());
        let copy = self.copies().entry(*id).or_insert_with(|| Arc::new(unknown())).clone();
        if copy.client.fetch_max(loaded.version, Ordering::Relaxed) < loaded.version {
            replace(&loaded.client);
        }
        copy.learn(loaded.settings, apply);
        copy.fresh_until.fetch_max(self.fresh_until(), Ordering::Relaxed);
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
        let enter = self.places.enter(&id, &client.caller, ttl);
        let results = storage::execute(&*self.store, vec![enter, begin]).await?;
        let Ok([entered, begun]) = <[_; 2]>::try_from(results) else {
            return Err(StoreError::failed("the store has returned other results"));
        };
        if let Err(rejection) = entered {
            let _ = self.execute(self.removing(&id)).await?;
            return Ok(Err(self.places.reason(rejection)));
        }
        match begun.as_deref() {
            Ok([_, Output::Version(begun), Output::Version(version)]) => {
                // The copy is not fresh: the next request reads the records, which extends their lifetime.
                let settings = StoredSettings { settings, version: *version };
                let copy = SessionCopy::new(&client.caller, 0, *begun, settings);
                self.copies().insert(id, Arc::new(copy));
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

    /// Returns the node that sends the client of a session the messages that belong to no request, and the version of the record `hearing`.
    /// Does not extend the lifetime of the record.
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

    /// Returns for each session whether its record `hearing` exists. Does not extend the lifetimes of the records.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn are_heard(
        &self,
        sessions: impl Iterator<Item = &SessionId>,
    ) -> Result<Vec<bool>, StoreError> {
        let read =
            |id: &SessionId| Transaction::on(id.partition()).then(StoreOperation::get(HEARING));
        let (reads, mut heard): (Vec<_>, _) = (sessions.map(read).collect(), Vec::new());
        for some in reads.chunks(256) {
            let results = storage::execute(&*self.store, some.to_vec()).await?;
            let exists = |outputs: Vec<Output>| matches!(outputs[..], [Output::Record(Some(_))]);
            heard.extend(results.into_iter().map(|result| result.is_ok_and(exists)));
        }
        Ok(heard)
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

    /// Records a version of the record `hearing`. Returns whether it is newer than the version that this node has known so far.
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
            .then(touch(DELIVERED))
    }

    /// Returns the transaction that renews the leases on the places of a session, if it is time to do so.
    fn renewal(&self, id: &SessionId, copy: &SessionCopy) -> Option<Transaction> {
        let now = self.millis();
        let next = now + millis(self.idle / 8);
        let is_due = |at: u64| (at <= now).then_some(next);
        copy.renewed_at.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_due).ok()?;
        Some(self.places.enter(id, copy.caller(), self.idle))
    }

    /// Extends the lifetime of the records of these sessions.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn keep(&self, sessions: &[SessionId]) -> Result<(), StoreError> {
        for some in sessions.chunks(256) {
            let mut transactions: Vec<_> = some.iter().map(|id| self.touching(id)).collect();
            for id in some {
                if let Some(copy) = self.copy(id) {
                    transactions.push(self.places.enter(id, copy.caller(), self.idle));
                }
            }
            storage::execute(&*self.store, transactions).await?;
        }
        Ok(())
    }

    /// Extends the lifetime of the streams that answer requests at this node.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn keep_streams(&self) -> Result<(), StoreError> {
        let streams: Vec<_> = self.readers().values().filter_map(AttachedReader::keeping).collect();
        for some in streams.chunks(256) {
            storage::execute(&*self.store, some.to_vec()).await?;
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
        (replace, apply): (impl FnOnce(&SavedClient), impl FnOnce(&SessionSettings)),
    ) -> Result<bool, StoreError> {
        let renewal = self.renewal(id, copy);
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

    /// Takes over a change of the settings that another node has announced, and passes the settings to `apply` if they are new.
    /// Returns `false` if this node has missed an earlier change, so that it has to read the settings.
    pub(super) fn follow(
        &self,
        id: &SessionId,
        new: &StoredChange,
        apply: impl FnOnce(&SessionSettings),
    ) -> bool {
        let Some(copy) = self.copy(id) else { return true };
        let has_followed = copy.follow(new, apply);
        if !has_followed {
            copy.distrust();
        }
        has_followed
    }

    /// Reads the settings of a session, and passes them to `apply` if they are new. Does not extend the lifetime of the record.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn reload(
        &self,
        id: &SessionId,
        apply: impl FnOnce(&SessionSettings),
    ) -> Result<(), StoreError> {
        let Some(copy) = self.copy(id) else { return Ok(()) };
        if let Some(settings) = self.stored_settings(id).await? {
            copy.learn(settings, apply);
        }
        Ok(())
    }

    async fn stored_settings(&self, id: &SessionId) -> Result<Option<StoredSettings>, StoreError> {
        let read = Transaction::on(id.partition()).then(StoreOperation::get(SETTINGS));
        let outputs = self.execute(read).await?.unwrap_or_default();
        match outputs.last() {
            Some(Output::Record(Some(settings))) => StoredSettings::of(settings).map(Some),
            _ => Ok(None),
        }
    }

    /// Stores a change of the settings that a client has made at this node, and tells the other nodes. `before` and `after` are the
    /// settings at this node before and after the change. If another node has changed the settings too, both changes are combined. `apply`
    /// gets the result.
    ///
    /// # Errors
    /// Fails if the store is unavailable, if the session has ended, or if too many changes wait.
    pub(super) async fn change(
        &self,
        id: &SessionId,
        copy: &SessionCopy,
        (before, after): (&SessionSettings, &SessionSettings),
        apply: impl FnOnce(&SessionSettings),
    ) -> Result<(), StoreError> {
        let change = before.change_to(after);
        let pause = copy.budget.change(self.since.elapsed(), &change);
        tokio::time::sleep(pause.ok_or_else(too_many)?).await;
        let _changing = copy.changing.lock().await;
        let changed = self.store_change(id, copy, change, apply).await;
        if let Err(why) = &changed {
            // The store may hold the change or not.
            copy.distrust_settings();
            // A client that does not repeat its request may leave the change in the store, so all nodes read it.
            if (why.is_unavailable() || why.is_full()) && copy.begin_rereading() {
                for part in StoredChange::unknown(SettingsChange::default()) {
                    self.post(&SessionMessage::Changed(&id.to_string(), part));
                }
            }
        }
        changed
    }

    /// Tells all nodes the settings that this node knows, unless they have been told. A request that changes nothing calls this method: the
    /// client may repeat it, because the node that has stored the change could not tell the others.
    ///
    /// # Errors
    /// Fails if the store is unavailable, or if too many changes wait.
    pub(super) async fn tell(&self, id: &SessionId, copy: &SessionCopy) -> Result<(), StoreError> {
        let known = copy.known();
        let change = SessionSettings::default().change_to(&known.settings);
        let pause = copy.budget.change(self.since.elapsed(), &change);
        tokio::time::sleep(pause.ok_or_else(too_many)?).await;
        let _changing = copy.changing.lock().await;
        if copy.is_told() {
            return Ok(());
        }
        for part in StoredChange::unknown(change) {
            self.send(&SessionMessage::Changed(&id.to_string(), part)).await?;
        }
        self.node.all_have_read(FRESH).await?;
        copy.set_told(known.version);
        Ok(())
    }

    async fn store_change(
        &self,
        id: &SessionId,
        copy: &SessionCopy,
        change: SettingsChange,
        apply: impl FnOnce(&SessionSettings),
    ) -> Result<(), StoreError> {
        let mut known = copy.known();
        for _ in 0..ATTEMPTS {
            let settings = known.settings.changed(&change);
            let condition = Condition::Version(known.version);
            let put = StoreOperation::put(SETTINGS, json(&settings)?, self.idle, condition);
            let put = self.touching(id).then(put);
            if let Ok(outputs) = self.execute(put).await? {
                let Some(Output::Version(version)) = outputs.last() else { break };
                copy.learn(StoredSettings { settings, version: *version }, apply);
                let (session, has_other_level) = (id.to_string(), change.has_other_level());
                // This message is in the log before any later update of a resource. The node that notifies the client therefore
                // knows the subscription when it reads the update. The message has only the changed settings, because a client may
                // change its settings often and may have many.
                for part in StoredChange::parts(known.version, *version, change) {
                    self.send(&SessionMessage::Changed(&session, part)).await?;
                }
                copy.set_told(*version);
                if has_other_level {
                    // The next call may run at another node, which has to know which log messages the client wants.
                    self.node.all_have_read(FRESH).await?;
                }
                return Ok(());
            }
            let stored = self.stored_settings(id).await?;
            known = stored.ok_or_else(|| StoreError::failed("the session has ended"))?;
        }
        Err(StoreError::unavailable("other nodes change the session all the time"))
    }

    /// Ends a session at all nodes.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn end(&self, id: &SessionId) -> Result<(), StoreError> {
        let copy = self.copy(id);
        // If the store fails, the session goes on, so this node keeps its copy.
        copy.iter().for_each(|copy| copy.distrust());
        let caller = copy.as_ref().map_or("", |copy| copy.caller());
        let end = vec![self.removing(id), self.places.leave(id, caller)];
        storage::execute(&*self.store, end).await?;
        // The session has ended, even if the other nodes learn it later.
        if self.send(&SessionMessage::Ended(&id.to_string())).await.is_err() {
            self.tell_end(id);
        }
        Ok(())
    }

    fn removing(&self, id: &SessionId) -> Transaction {
        let remove = |name: &str| StoreOperation::remove(name, Condition::Any);
        let names = [CLIENT, SETTINGS, HEARING, DELIVERED];
        let removals =
            names.iter().fold(Transaction::on(id.partition()), |end, name| end.then(remove(name)));
        removals.then(self.stream(id, 0).clearing())
    }

    /// Counts a message that the client has posted, and returns the time to wait before [`pass_on`](Self::pass_on). `bytes` is the size of
    /// the message. A client that posts many messages has to wait. Otherwise its messages would push those of other clients out of the log,
    /// or fill the store.
    ///
    /// # Errors
    /// Fails if too many messages wait.
    pub(super) fn pause(&self, id: &SessionId, bytes: usize) -> Result<Duration, StoreError> {
        let Some(copy) = self.copy(id) else { return Ok(Duration::ZERO) };
        copy.budget.post(self.since.elapsed(), bytes).ok_or_else(too_many)
    }

    /// Sends all nodes a message that the client has posted.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn pass_on(&self, id: &SessionId, body: &str) -> Result<(), StoreError> {
        let session = id.to_string();
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
        self.node.send(Subject::Sessions, &message.body()?).await
    }

    /// Tells the other nodes that a session is not in the store any more. The node that has ended it may have failed to do so.
    pub(super) fn tell_end(&self, id: &SessionId) {
        self.post(&SessionMessage::Ended(&id.to_string()));
    }

    /// Sends a message to all nodes as soon as the store is available.
    fn post(&self, message: &SessionMessage<'_>) {
        // A message of texts and numbers can always be written.
        if let Ok(body) = message.body() {
            self.node.post(Subject::Sessions, &body);
        }
    }
}

#[cold]
fn too_many() -> StoreError {
    StoreError::unavailable("too many messages of this session wait for it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::ClientInfo,
        protocol::Revision,
        storage::MemoryStore,
        testing::{FaultyStore, StoreFault},
    };

    fn client() -> SavedClient {
        SavedClient {
            revision: Revision::NEWEST_LEGACY,
            client: Arc::new(ClientInfo::default()),
            principal: String::new(),
            caller: "address:192.0.2.1".to_owned(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_without_a_further_message_is_kept_for_a_short_time_only() {
        let store = Arc::new(MemoryStore::new().shared());
        let node = Arc::new(ServerNode::join(store).await.unwrap());
        let shared = SharedSessions::new(node, &Limits::new());
        let [unused, used] = [(); 2].map(|()| SessionId::unguessable().unwrap());
        for id in [unused, used] {
            shared.begin(id, &client()).await.unwrap().unwrap();
            assert!(!shared.is_fresh(&id));
        }
        let copy = shared.copy(&used).unwrap();
        let is_open = shared.refresh(&used, &copy, (|_: &_| (), |_: &_| ())).await.unwrap();
        assert!(is_open && shared.is_fresh(&used));
        tokio::time::advance(UNUSED).await;
        assert!(shared.load(&unused).await.unwrap().is_none());
        assert!(shared.load(&used).await.unwrap().is_some());
        tokio::time::advance(Limits::new().session_idle).await;
        assert!(shared.load(&used).await.unwrap().is_none());
    }

    fn settings(uris: &[String]) -> SessionSettings {
        let uris = serde_json::to_string(uris).unwrap();
        let text = format!(r#"{{"is_initialized":true,"log_level":null,"subscriptions":{uris}}}"#);
        serde_json::from_str(&text).unwrap()
    }

    /// Returns two nodes of one store, with a session that both of them know.
    async fn two_nodes() -> ([SharedSessions; 2], SessionId) {
        let store = Arc::new(MemoryStore::new().shared());
        let id = SessionId::unguessable().unwrap();
        let node = async || {
            let node = Arc::new(ServerNode::join(store.clone()).await.unwrap());
            SharedSessions::new(node, &Limits::new())
        };
        let [one, two] = [node().await, node().await];
        one.begin(id, &client()).await.unwrap().unwrap();
        let loaded = two.load(&id).await.unwrap().unwrap();
        two.remember_loaded(&id, loaded, (|_: &_| (), |_: &_| ()));
        ([one, two], id)
    }

    /// Returns the messages of the nodes about sessions.
    async fn messages(shared: &SharedSessions) -> Vec<String> {
        let read = Transaction::on("nodes").then(StoreOperation::read("messages", 0, usize::MAX));
        let outputs = shared.execute(read).await.unwrap().unwrap();
        let Output::Events { events, .. } = &outputs[0] else { panic!("{outputs:?}") };
        let texts = events.iter().map(|event| String::from_utf8(event.value.clone()).unwrap());
        texts.map(|text| text.splitn(4, ' ').nth(3).unwrap().to_owned()).collect()
    }

    async fn change(shared: &SharedSessions, id: &SessionId, before: &[String], after: &[String]) {
        let (copy, ignored) = (shared.copy(id).unwrap(), |_: &SessionSettings| ());
        let change = (&settings(before), &settings(after));
        shared.change(id, &copy, change, ignored).await.unwrap();
    }

    /// Removes the subscriptions at the first node, and lets the others read the settings.
    async fn change_back(nodes: &[&SharedSessions], id: &SessionId, uris: &[String]) {
        change(nodes[0], id, uris, &[]).await;
        for node in nodes {
            node.copy(id).unwrap().distrust_settings();
            node.reload(id, |_| ()).await.unwrap();
            assert_eq!(node.copy(id).unwrap().known().settings, settings(&[]));
        }
    }

    /// Lets a node read a message. Returns whether the node has missed no earlier message.
    fn follow(shared: &SharedSessions, id: &SessionId, message: &str) -> bool {
        match serde_json::from_str(message).unwrap() {
            SessionMessage::Changed(_, new) => shared.follow(id, &new, |_| ()),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_sends_the_nodes_the_difference_and_not_all_subscriptions() {
        let ([one, two], id) = two_nodes().await;
        let uris: Vec<_> = (0..30).map(|number| format!("{number:08000}")).collect();
        for count in 0..uris.len() {
            change(&one, &id, &uris[..count], &uris[..=count]).await;
        }
        for _ in 0..5 {
            change(&one, &id, &uris, &uris[1..]).await;
            change(&one, &id, &uris[1..], &uris).await;
        }
        let messages = messages(&one).await;
        assert_eq!(messages.len(), 40);
        for message in &messages {
            assert!(message.len() < 8300, "{} bytes", message.len());
            assert!(follow(&one, &id, message) && follow(&two, &id, message));
        }
        let known = [&one, &two].map(|shared| shared.copy(&id).unwrap().known());
        assert_eq!(known[0].version, known[1].version);
        assert!(known.iter().all(|known| known.settings == settings(&uris)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_change_is_sent_in_parts() {
        let ([one, two], id) = two_nodes().await;
        let uris: Vec<_> = (0..800).map(|number| format!("{number:01000}")).collect();
        change(&one, &id, &[], &uris).await;
        let messages = messages(&one).await;
        assert_eq!(messages.len(), 200);
        for message in &messages {
            assert!(message.len() < LONG + 300, "{} bytes", message.len());
            assert!(follow(&two, &id, message));
        }
        assert_eq!(two.copy(&id).unwrap().known().settings, settings(&uris));
        // The session has used up its budget.
        let begin = Instant::now();
        change(&one, &id, &uris, &[]).await;
        assert!(begin.elapsed() > Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_that_misses_a_change_reads_the_settings() {
        let ([one, two], id) = two_nodes().await;
        let uris: Vec<_> = ["a", "b", "c"].map(str::to_owned).into();
        for count in 0..3 {
            change(&one, &id, &uris[..count], &uris[..=count]).await;
        }
        let messages = messages(&one).await;
        // The node takes over the change that it reads, and notices that another one is missing.
        assert!(!follow(&two, &id, &messages[1]));
        assert_eq!(two.copy(&id).unwrap().known().settings, settings(&uris[1..2]));
        two.reload(&id, |_| ()).await.unwrap();
        assert_eq!(two.copy(&id).unwrap().known().settings, settings(&uris));
        for message in &messages {
            assert!(follow(&two, &id, message));
        }
        assert_eq!(two.copy(&id).unwrap().known().settings, settings(&uris));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_load_does_not_undo_newer_settings_or_renew_the_budget() {
        let ([one, two], id) = two_nodes().await;
        let (slow, uris) = (two.load(&id).await.unwrap().unwrap(), ["a".to_owned()]);
        change(&one, &id, &[], &uris).await;
        two.reload(&id, |_| ()).await.unwrap();
        let copy = two.copy(&id).unwrap();
        assert!(copy.budget.post(two.since.elapsed(), 64 << 20).is_some());
        let (replace, apply) = (|_: &_| panic!("no new client"), |_: &_| panic!("old settings"));
        two.remember_loaded(&id, slow, (replace, apply));
        let copy = two.copy(&id).unwrap();
        assert_eq!(copy.known().settings, settings(&uris));
        assert!(copy.budget.post(two.since.elapsed(), 0).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_change_has_failed_the_next_request_takes_over_the_settings_in_the_store() {
        let (memory, id) =
            (Arc::new(MemoryStore::new().shared()), SessionId::unguessable().unwrap());
        let store = FaultyStore::new(memory);
        let node = Arc::new(ServerNode::join(Arc::new(store.clone())).await.unwrap());
        let shared = SharedSessions::new(node, &Limits::new());
        shared.begin(id, &client()).await.unwrap().unwrap();
        let copy = shared.copy(&id).unwrap();
        let uris = ["a".to_owned()];
        let (before, after) = (settings(&[]), settings(&uris));
        // The store applies the change, but its announcement fails.
        store.fault_at(store.requests() + 1, StoreFault::FailsBefore);
        assert!(shared.change(&id, &copy, (&before, &after), |_| ()).await.is_err());
        let applied = std::cell::Cell::new(false);
        let apply = |stored: &SessionSettings| applied.set(*stored == after);
        assert!(!shared.is_fresh(&id));
        shared.refresh(&id, &copy, (|_: &_| (), apply)).await.unwrap();
        assert!(applied.get() && shared.is_fresh(&id));
    }

    /// Without the message, the node that has the stream of the client would never learn about the subscription: the client repeats the
    /// request, and this node finds that nothing changes.
    #[tokio::test(start_paused = true)]
    async fn nodes_read_the_settings_after_a_change_that_may_be_stored_has_failed() {
        let memory = Arc::new(MemoryStore::new().shared());
        let id = SessionId::unguessable().unwrap();
        let store = FaultyStore::new(memory.clone());
        let node = Arc::new(ServerNode::join(Arc::new(store.clone())).await.unwrap());
        let one = SharedSessions::new(node.clone(), &Limits::new());
        let two = Arc::new(ServerNode::join(memory).await.unwrap());
        let two = SharedSessions::new(two, &Limits::new());
        one.begin(id, &client()).await.unwrap().unwrap();
        let loaded = two.load(&id).await.unwrap().unwrap();
        two.remember_loaded(&id, loaded, (|_: &_| (), |_: &_| ()));
        node.receive().await.unwrap();
        let (copy, uris) = (one.copy(&id).unwrap(), ["a".to_owned()]);
        // The answer to the change is lost, or its announcement fails.
        for (fault, at) in [(StoreFault::FailsAfter, 0), (StoreFault::FailsBefore, 1)] {
            store.fault_at(store.requests() + at, fault);
            let change = (&settings(&[]), &settings(&uris));
            assert!(one.change(&id, &copy, change, |_| ()).await.is_err());
            let is_told = async || {
                let all = messages(&two).await;
                let mut changes = all.iter().filter(|message| message.contains("changed"));
                changes.any(|message| !follow(&one, &id, message) && !follow(&two, &id, message))
            };
            let watch = Instant::now();
            while !is_told().await {
                assert!(watch.elapsed() < Duration::from_secs(60));
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            two.reload(&id, |_| ()).await.unwrap();
            assert_eq!(two.copy(&id).unwrap().known().settings, settings(&uris));
            one.refresh(&id, &copy, (|_: &_| (), |_: &_| ())).await.unwrap();
            change_back(&[&one, &two], &id, &uris).await;
        }
    }

    /// The client repeats its request at another node, for which it changes nothing.
    #[tokio::test(start_paused = true)]
    async fn a_request_that_changes_nothing_tells_the_nodes_what_the_store_has() {
        let memory = Arc::new(MemoryStore::new().shared());
        let id = SessionId::unguessable().unwrap();
        let store = FaultyStore::new(memory.clone());
        let node = async |store: Arc<dyn Store>| {
            let node = Arc::new(ServerNode::join(store).await.unwrap());
            SharedSessions::new(node, &Limits::new())
        };
        let [one, two] = [node(Arc::new(store.clone())).await, node(memory).await];
        one.begin(id, &client()).await.unwrap().unwrap();
        let (copy, uris) = (one.copy(&id).unwrap(), ["a".to_owned(), "b".to_owned()]);
        store.fault_at(store.requests() + 1, StoreFault::FailsBefore);
        let change = (&settings(&[]), &settings(&uris));
        assert!(one.change(&id, &copy, change, |_| ()).await.is_err());
        let loaded = two.load(&id).await.unwrap().unwrap();
        two.remember_loaded(&id, loaded, (|_: &_| (), |_: &_| ()));
        let at_two = two.copy(&id).unwrap();
        assert!(!copy.is_told() && !at_two.is_told());
        for _ in 0..2 {
            two.tell(&id, &at_two).await.unwrap();
            assert!(at_two.is_told());
        }
        let all = messages(&two).await;
        let told: Vec<_> = all.iter().filter(|message| message.contains("changed")).collect();
        assert_eq!(told.len(), 1);
        // The node takes over the settings at once, and reads them too.
        assert!(!follow(&one, &id, told[0]));
        assert_eq!(copy.known().settings, settings(&uris));
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_session_is_told_when_the_store_is_back() {
        let store = FaultyStore::new(Arc::new(MemoryStore::new().shared()));
        let node = Arc::new(ServerNode::join(Arc::new(store.clone())).await.unwrap());
        let shared = SharedSessions::new(node.clone(), &Limits::new());
        let id = SessionId::unguessable().unwrap();
        shared.begin(id, &client()).await.unwrap().unwrap();
        node.receive().await.unwrap();
        store.fault_at(store.requests() + 1, StoreFault::FailsBefore);
        shared.end(&id).await.unwrap();
        let watch = Instant::now();
        while !messages(&shared).await.iter().any(|message| message.contains("ended")) {
            assert!(watch.elapsed() < Duration::from_secs(60));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_without_a_principal_leaves_sessions_for_others() {
        let store = Arc::new(MemoryStore::new().shared());
        let limits = Limits::new().sessions(16);
        let mut nodes = Vec::new();
        for _ in 0..2 {
            let node = Arc::new(ServerNode::join(store.clone()).await.unwrap());
            nodes.push(SharedSessions::new(node, &limits));
        }
        let open = async |number: usize, caller: &str| {
            let id = SessionId::unguessable().unwrap();
            let client = SavedClient { caller: caller.to_owned(), ..client() };
            nodes[number % 2].begin(id, &client).await.unwrap().map(|()| id)
        };
        let mut last = None;
        for number in 0..14 {
            last = Some(open(number, "address:192.0.2.1").await.unwrap());
        }
        let why = open(0, "address:192.0.2.1").await.err().unwrap();
        assert!(why.contains("its share of the 16"), "{why}");
        open(1, "address:192.0.2.2").await.unwrap();
        // The end of a session at another node gives back the place of its caller.
        let (id, two) = (last.unwrap(), &nodes[0]);
        let loaded = two.load(&id).await.unwrap().unwrap();
        two.remember_loaded(&id, loaded, (|_: &_| (), |_: &_| ()));
        two.end(&id).await.unwrap();
        open(1, "address:192.0.2.1").await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_client_has_received_is_known_as_long_as_its_session_is_in_use() {
        let ([one, _], id) = two_nodes().await;
        let (_, version) = one.stream(&id, 0).open_delivered().await.unwrap();
        for _ in 0..4 {
            tokio::time::advance(Limits::new().session_idle / 2).await;
            one.keep(&[id]).await.unwrap();
        }
        one.stream(&id, 0).set_delivered(5, version).await;
        assert_eq!(one.stream(&id, 0).open_delivered().await.unwrap().0, 5);
    }

    #[tokio::test(start_paused = true)]
    async fn the_records_of_many_sessions_are_read_in_few_requests() {
        let store = FaultyStore::new(Arc::new(MemoryStore::new().shared()));
        let node = Arc::new(ServerNode::join(Arc::new(store.clone())).await.unwrap());
        let shared = SharedSessions::new(node, &Limits::new());
        let mut ids: Vec<_> = (0..300).map(|_| SessionId::unguessable().unwrap()).collect();
        for id in &ids[..299] {
            shared.begin(*id, &client()).await.unwrap().unwrap();
        }
        ids.swap(0, 299);
        let before = store.requests();
        let heard = shared.are_heard(ids.iter()).await.unwrap();
        assert_eq!(store.requests() - before, 2);
        assert_eq!((heard.len(), heard.iter().position(|heard| !heard)), (300, Some(0)));
        assert!(heard[1..].iter().all(|heard| *heard));
    }
}
