//! Storage of clients and grants: their records in a store, and the changes that are not written yet.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use mcp_runtime::{
    __companion::{LOGIN_PARTITION, SEAL_KEY},
    store::{Condition, IndexEntry, Output, Store, StoreError, StoreOperation, Transaction},
};
use serde::Serialize;
use tokio::time::Instant;

use crate::oauth_error::OAuthError;

/// Index of all clients and grants.
const INDEX: &str = "records";

/// Number of records that are read at once.
const PAGE: usize = 500;

/// Kind of a stored record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RecordKind {
    Client,
    Grant,
}

impl RecordKind {
    const ALL: [Self; 2] = [Self::Client, Self::Grant];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Grant => "grant",
        }
    }
}

/// Client or grant as it is stored: JSON without secrets in clear text.
pub(crate) struct StoredRecord {
    pub(crate) kind: RecordKind,
    pub(crate) key: String,
    pub(crate) json: Vec<u8>,
}

impl StoredRecord {
    /// Returns the record of an entry. An entry of an unknown kind was written by a newer version, and is skipped.
    fn of(entry: IndexEntry) -> Option<Self> {
        let (name, key) = entry.name.split_once('/')?;
        let kind = RecordKind::ALL.into_iter().find(|kind| kind.name() == name)?;
        Some(Self { kind, key: key.to_owned(), json: entry.record?.value })
    }
}

/// New content of a record: its JSON, and the time at which it expires, in seconds since 1970.
#[derive(Clone)]
struct Content {
    json: Vec<u8>,
    expires: u64,
}

/// Reads all records that have not expired.
async fn load(store: &dyn Store) -> Result<Vec<StoredRecord>, StoreError> {
    let (mut records, mut after) = (Vec::new(), None);
    loop {
        let list = Transaction::on(LOGIN_PARTITION).then(StoreOperation::list(INDEX, after, PAGE));
        let mut entries = match execute(store, list).await?.pop() {
            Some(Output::Entries(entries)) => entries,
            _ => Vec::new(),
        };
        let Some(last) = entries.last() else { return Ok(records) };
        after = Some((last.order, last.name.clone()));
        records.extend(entries.drain(..).filter_map(StoredRecord::of));
    }
}

/// Writes all changes or none.
async fn write(store: &dyn Store, changes: &UnsavedChanges) -> Result<(), StoreError> {
    let now = system().as_secs();
    let mut transaction = Transaction::on(LOGIN_PARTITION);
    for ((kind, key), content) in changes {
        let name = format!("{}/{key}", kind.name());
        transaction = match content {
            Some(Content { json, expires }) => {
                let ttl = Duration::from_secs(expires.saturating_sub(now).max(1));
                transaction
                    .then(StoreOperation::put(&*name, json.clone(), ttl, Condition::Any))
                    .then(StoreOperation::enlist(INDEX, name, 0, ttl))
            }
            None => transaction
                .then(StoreOperation::remove(&*name, Condition::Any))
                .then(StoreOperation::delist(INDEX, name)),
        };
    }
    execute(store, transaction).await.map(drop)
}

/// Executes a transaction that has no conditions.
async fn execute(store: &dyn Store, transaction: Transaction) -> Result<Vec<Output>, StoreError> {
    let results = store.execute(vec![transaction]).await?;
    let applied = results.into_iter().next().and_then(Result::ok);
    applied.ok_or_else(|| StoreError::failed("a transaction without conditions was rejected"))
}

type UnsavedChanges = BTreeMap<(RecordKind, String), Option<Content>>;

/// Changes that are not stored yet. For each record, only its last change is kept.
#[derive(Default)]
pub(crate) struct Journal {
    /// Store of the server, from its start on. `None` inside if the server has none, or shares its store with other nodes.
    store: OnceLock<Option<Arc<dyn Store>>>,
    dirty: Mutex<UnsavedChanges>,
    writing: tokio::sync::Mutex<()>,
}

impl Journal {
    /// Sets the store of the server when it starts. With `None`, the journal writes nothing.
    pub(crate) fn start(&self, store: Option<Arc<dyn Store>>) {
        // The server starts once, so the cell is empty.
        let _ = self.store.set(store);
    }

    /// Whether the server has started, so that its store is known.
    pub(crate) fn has_started(&self) -> bool {
        self.store.get().is_some()
    }

    fn store(&self) -> Option<&Arc<dyn Store>> {
        self.store.get()?.as_ref()
    }

    /// Adds a new or changed record to the changes that [`save`](Self::save) writes.
    pub(crate) fn put(&self, kind: RecordKind, key: &str, expires: u64, value: &impl Serialize) {
        if self.store().is_none() {
            return;
        }
        match serde_json::to_vec(value) {
            Ok(json) => {
                let content = Content { json, expires };
                self.dirty().insert((kind, key.to_owned()), Some(content));
            }
            Err(why) => tracing::error!("the authorization server cannot store a {kind:?}: {why}"),
        }
    }

    /// Adds the removal of a record to the changes that [`save`](Self::save) writes.
    pub(crate) fn remove(&self, kind: RecordKind, key: &str) {
        if self.store().is_some() {
            self.dirty().insert((kind, key.to_owned()), None);
        }
    }

    fn dirty(&self) -> std::sync::MutexGuard<'_, UnsavedChanges> {
        self.dirty.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loads the stored records that have not expired. Returns an empty list if no store is set.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub(crate) async fn load(&self) -> Result<Vec<StoredRecord>, String> {
        match self.store() {
            Some(store) => load(&**store).await.map_err(|why| why.to_string()),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the key that seals the tokens of a provider. `None` if the store has no such key.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub(crate) async fn seal_key(&self) -> Result<Option<[u8; 32]>, String> {
        let Some(store) = self.store() else { return Ok(None) };
        let get = Transaction::on(LOGIN_PARTITION).then(StoreOperation::get(SEAL_KEY));
        let found = execute(&**store, get).await.map_err(|why| why.to_string())?.pop();
        Ok(match found {
            Some(Output::Record(Some(record))) => record.value.try_into().ok(),
            _ => None,
        })
    }

    /// Writes all changes so far to the store, and waits until they are stored. The write continues even if the caller drops the future.
    ///
    /// # Errors
    /// Fails if the write fails. The next call tries the same changes again.
    pub(crate) async fn save(self: &Arc<Self>) -> Result<(), OAuthError> {
        let Some(store) = self.store().cloned() else { return Ok(()) };
        let own = self.clone();
        let saved = tokio::spawn(async move {
            // Writes run one after the other, so that an older change never replaces a newer one.
            let _writing = own.writing.lock().await;
            let changes = std::mem::take(&mut *own.dirty());
            if changes.is_empty() {
                return Ok(());
            }
            let written = write(&*store, &changes).await;
            if written.is_err() {
                let mut dirty = own.dirty();
                let newer = std::mem::replace(&mut *dirty, changes);
                dirty.extend(newer);
            }
            written
        });
        match saved.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(why)) => Err(OAuthError::server_error("the change cannot be stored", &why)),
            Err(why) => Err(OAuthError::server_error("the change cannot be stored", &why)),
        }
    }
}

/// Clock that returns seconds since 1970, so that the next process understands the stored times too. While the process runs, the clock
/// advances at least as fast as the monotonic clock, so setting the system clock back extends no lifetime.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    started: Duration,
    since: Instant,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self { started: system(), since: Instant::now() }
    }

    /// Returns the time, in seconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        (self.started + self.since.elapsed()).max(system()).as_secs()
    }
}

fn system() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Converts seconds since 1970 to a `SystemTime`.
pub(crate) fn time(seconds: u64) -> SystemTime {
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).unwrap_or(UNIX_EPOCH)
}
