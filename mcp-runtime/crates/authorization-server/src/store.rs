//! Storage of clients and grants: the trait of a store, the stored records, and the changes that are not written yet.

use std::{
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::Serialize;
use tokio::time::Instant;

use crate::oauth_error::OAuthError;

/// Future that a store returns.
pub(crate) type StoreFuture<'a, T> =
    Pin<Box<dyn Future<Output = mcp_runtime::Result<T>> + Send + 'a>>;

/// Kind of a stored record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RecordKind {
    Client,
    Grant,
}

impl RecordKind {
    const ALL: [Self; 2] = [Self::Client, Self::Grant];

    #[cfg_attr(
        not(feature = "sqlite"),
        allow(dead_code, reason = "only files have names for them")
    )]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Grant => "grant",
        }
    }

    #[cfg_attr(
        not(feature = "sqlite"),
        allow(dead_code, reason = "only files have names for them")
    )]
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Client or grant as a store keeps it: JSON without secrets in clear text.
#[derive(Clone)]
#[cfg_attr(not(feature = "sqlite"), allow(dead_code, reason = "only files forget by themselves"))]
pub(crate) struct StoredRecord {
    pub(crate) kind: RecordKind,
    pub(crate) key: String,
    /// Expiry, in seconds since 1970.
    pub(crate) expires: u64,
    pub(crate) json: String,
}

/// A change to one record: its kind, its key, and its new content, or `None` if it was removed.
pub(crate) type RecordChange = (RecordKind, String, Option<StoredRecord>);

/// Store that keeps clients and grants across restarts.
pub(crate) trait LoginStore: Send + Sync + 'static {
    /// Loads the records that have not expired at `now`.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    fn load(&self, now: u64) -> StoreFuture<'_, Vec<StoredRecord>>;

    /// Writes all changes or none. If the future returns `Ok`, the changes survive a crash of the process.
    ///
    /// # Errors
    /// Fails if the changes cannot be written.
    fn write(&self, changes: Vec<RecordChange>) -> StoreFuture<'_, ()>;
}

type UnsavedChanges = BTreeMap<(RecordKind, String), Option<StoredRecord>>;

/// Changes that are not stored yet. For each record, only its last change is kept.
#[derive(Default)]
pub(crate) struct Journal {
    ledger: RwLock<Option<Arc<dyn LoginStore>>>,
    dirty: Mutex<UnsavedChanges>,
    writing: tokio::sync::Mutex<()>,
}

impl Journal {
    #[cfg(any(feature = "sqlite", test))]
    pub(crate) fn keep_in(&self, ledger: Arc<dyn LoginStore>) {
        *self.ledger.write().unwrap_or_else(PoisonError::into_inner) = Some(ledger);
    }

    fn ledger(&self) -> Option<Arc<dyn LoginStore>> {
        self.ledger.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a store is set, so that the records outlast the process.
    pub(crate) fn outlasts(&self) -> bool {
        self.ledger().is_some()
    }

    /// Adds a new or changed record to the changes that [`save`](Self::save) writes.
    pub(crate) fn put(&self, kind: RecordKind, key: &str, expires: u64, value: &impl Serialize) {
        if !self.outlasts() {
            return;
        }
        match serde_json::to_string(value) {
            Ok(json) => {
                let row = StoredRecord { kind, key: key.to_owned(), expires, json };
                self.dirty().insert((kind, key.to_owned()), Some(row));
            }
            Err(why) => tracing::error!("the authorization server cannot store a {kind:?}: {why}"),
        }
    }

    /// Adds the removal of a record to the changes that [`save`](Self::save) writes.
    pub(crate) fn remove(&self, kind: RecordKind, key: &str) {
        if self.outlasts() {
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
    pub(crate) async fn load(&self, now: u64) -> Result<Vec<StoredRecord>, String> {
        match self.ledger() {
            Some(ledger) => ledger.load(now).await.map_err(|why| why.to_string()),
            None => Ok(Vec::new()),
        }
    }

    /// Writes all changes so far to the store, and waits until they are stored. The write continues even if the caller drops the future.
    ///
    /// # Errors
    /// Fails if the write fails. The next call tries the same changes again.
    pub(crate) async fn save(self: &Arc<Self>) -> Result<(), OAuthError> {
        let Some(ledger) = self.ledger() else { return Ok(()) };
        let own = self.clone();
        let saved = tokio::spawn(async move {
            // Writes run one after the other, so that an older change never replaces a newer one.
            let _writing = own.writing.lock().await;
            let changes = std::mem::take(&mut *own.dirty());
            if changes.is_empty() {
                return Ok(());
            }
            let list = changes.iter().map(|((kind, key), row)| (*kind, key.clone(), row.clone()));
            let written = ledger.write(list.collect()).await;
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
