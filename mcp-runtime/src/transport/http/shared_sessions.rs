//! Sessions in a store that several nodes share: their records, and what this node knows of them.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{session_table::SessionId, sse::millis};
use crate::{
    node::{ServerNode, Subject},
    protocol::{SavedClient, SessionSettings},
    storage::{
        Condition, Output, Record, Rejection, Store, StoreError, StoreOperation, Transaction,
    },
};

/// Record with the client of a session, as [`SavedClient`] writes it.
const CLIENT: &str = "client";

/// Record with the settings of a session, as JSON of [`SessionSettings`].
const SETTINGS: &str = "settings";

/// Time for which a node relies on its copy of a session without asking the store.
const FRESH: Duration = Duration::from_secs(1);

/// Maximum number of attempts to change a record that other nodes change too.
const ATTEMPTS: usize = 16;

/// Sessions in a store that several nodes share.
pub(super) struct SharedSessions {
    store: Arc<dyn Store>,
    pub(super) node: Arc<ServerNode>,
    /// Time after which an unused session expires.
    idle: Duration,
    since: Instant,
    copies: Mutex<HashMap<SessionId, Arc<SessionCopy>>>,
}

/// What this node knows about the records of a session.
pub(super) struct SessionCopy {
    /// Time until which this node need not look into the store, in milliseconds since the start.
    fresh_until: AtomicU64,
    /// Newest settings that this node has seen.
    known: Mutex<StoredSettings>,
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
}

/// Message of a node about a session.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SessionMessage<'a> {
    /// The session with this id has ended.
    Ended(&'a str),
    /// The session has these settings.
    Settings(&'a str, StoredSettings),
    /// The sender now sends the client the messages that belong to no request.
    Heard(&'a str),
    /// The client of the session has posted this message, which may be for a call of any node.
    Posted(&'a str, Cow<'a, str>),
}

fn partition(id: &SessionId) -> String {
    format!("session:{id}")
}

impl SharedSessions {
    pub(super) fn new(store: Arc<dyn Store>, node: Arc<ServerNode>, idle: Duration) -> Self {
        Self { store, node, idle, since: Instant::now(), copies: Mutex::default() }
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
        for copy in self.copies().values() {
            copy.fresh_until.store(0, Ordering::Relaxed);
        }
    }

    /// Forgets the sessions for which `is_used` returns false.
    pub(super) fn retain(&self, is_used: impl Fn(&SessionId) -> bool) {
        self.copies().retain(|id, _| is_used(id));
    }

    /// Remembers a session that this node has begun or loaded.
    pub(super) fn remember(&self, id: SessionId, loaded: StoredSettings) {
        let copy = SessionCopy {
            fresh_until: AtomicU64::new(self.fresh_until()),
            known: Mutex::new(loaded),
            changing: tokio::sync::Mutex::default(),
        };
        self.copies().insert(id, Arc::new(copy));
    }

    async fn execute(
        &self,
        transaction: Transaction,
    ) -> Result<Result<Vec<Output>, Rejection>, StoreError> {
        let mut results = self.store.execute(vec![transaction]).await?;
        results.pop().ok_or_else(|| StoreError::failed("the store has returned no result"))
    }

    fn put(&self, name: &str, value: Vec<u8>, condition: Condition) -> StoreOperation {
        StoreOperation::put(name, value, self.idle, condition)
    }

    /// Stores a session that has begun, or a new client of a session.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn begin(
        &self,
        id: SessionId,
        client: &SavedClient,
    ) -> Result<(), StoreError> {
        let settings = SessionSettings::default();
        let value = json(&settings)?;
        let begin = Transaction::on(partition(&id))
            .then(self.put(CLIENT, client.write(), Condition::Any))
            .then(self.put(SETTINGS, value, Condition::Absent));
        match self.execute(begin).await? {
            Ok(outputs) => {
                if let Some(Output::Version(version)) = outputs.last() {
                    self.remember(id, StoredSettings { settings, version: *version });
                }
                Ok(())
            }
            // The session has settings already, and continues with a new client.
            Err(_) => {
                let client = self.put(CLIENT, client.write(), Condition::Any);
                self.execute(Transaction::on(partition(&id)).then(client)).await.map(drop)
            }
        }
    }

    /// Reads a session that began at another node. Returns `None` if there is no such session.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn load(
        &self,
        id: &SessionId,
    ) -> Result<Option<(SavedClient, StoredSettings)>, StoreError> {
        let read = self.touching(id).then(StoreOperation::get(CLIENT));
        let Ok(mut outputs) = self.execute(read.then(StoreOperation::get(SETTINGS))).await? else {
            return Ok(None);
        };
        let (Some(Output::Record(Some(settings))), Some(Output::Record(Some(client)))) =
            (outputs.pop(), outputs.pop())
        else {
            return Ok(None);
        };
        let loaded = StoredSettings::of(&settings)?;
        let client = SavedClient::read(&client.value);
        let client =
            client.ok_or_else(|| StoreError::failed("the record of a session is damaged"))?;
        Ok(Some((client, loaded)))
    }

    fn touching(&self, id: &SessionId) -> Transaction {
        let touch = |name: &str| StoreOperation::Touch { name: name.to_owned(), ttl: self.idle };
        Transaction::on(partition(id)).then(touch(CLIENT)).then(touch(SETTINGS))
    }

    /// Keeps the records of these sessions from expiring.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn keep(&self, sessions: &[SessionId]) -> Result<(), StoreError> {
        for some in sessions.chunks(256) {
            self.store.execute(some.iter().map(|id| self.touching(id)).collect()).await?;
        }
        Ok(())
    }

    /// Reads the settings of a session again, and passes them to `apply` if they have changed. Returns `false` if the session has ended.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    pub(super) async fn refresh(
        &self,
        id: &SessionId,
        copy: &SessionCopy,
        apply: impl FnOnce(&SessionSettings),
    ) -> Result<bool, StoreError> {
        let read = self.touching(id).then(StoreOperation::get(SETTINGS));
        let outputs = self.execute(read).await?.unwrap_or_default();
        let Some(Output::Record(Some(settings))) = outputs.last() else { return Ok(false) };
        if settings.version != copy.known().version {
            copy.learn(StoredSettings::of(settings)?, apply);
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
            let put = self.put(SETTINGS, json(&settings)?, Condition::Version(known.version));
            let change = Transaction::on(partition(id)).then(put);
            if let Ok(outputs) = self.execute(change).await? {
                let Some(Output::Version(version)) = outputs.last() else { break };
                let new = StoredSettings { settings, version: *version };
                copy.learn(new.clone(), apply);
                // An update that follows in the log finds the subscription at the node that sends it to the client.
                return self.send(&SessionMessage::Settings(&id.to_string(), new)).await;
            }
            let read = Transaction::on(partition(id)).then(StoreOperation::get(SETTINGS));
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
    pub(super) async fn end(&self, id: &SessionId) -> Result<(), StoreError> {
        self.forget(id);
        let remove = |name: &str| StoreOperation::remove(name, Condition::Any);
        let end = Transaction::on(partition(id)).then(remove(CLIENT)).then(remove(SETTINGS));
        let _ = self.execute(end).await?;
        self.send(&SessionMessage::Ended(&id.to_string())).await
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
