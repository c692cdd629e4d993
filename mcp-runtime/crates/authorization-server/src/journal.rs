//! Changes on their way to the store that outlasts the process.

use std::{
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use serde::Serialize;

use super::refusal::Refusal;

/// Future of a store.
pub(crate) type StoreFuture<'a, T> =
    Pin<Box<dyn Future<Output = mcp_runtime::Result<T>> + Send + 'a>>;

/// Kind of a stored record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Client,
    Grant,
}

impl Kind {
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
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// Stored record, as JSON. It contains nothing that gives access.
#[derive(Clone)]
#[cfg_attr(not(feature = "sqlite"), allow(dead_code, reason = "only files forget by themselves"))]
pub(crate) struct Row {
    pub(crate) kind: Kind,
    pub(crate) key: String,
    /// Expiry, in seconds since 1970.
    pub(crate) expires: u64,
    pub(crate) json: String,
}

/// Change of a record: its new row, or `None` if it was removed.
pub(crate) type Change = (Kind, String, Option<Row>);

/// Store in which clients and grants outlast the process.
pub(crate) trait Ledger: Send + Sync + 'static {
    /// Loads the records that have not expired at `now`.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    fn load(&self, now: u64) -> StoreFuture<'_, Vec<Row>>;

    /// Writes all changes or none. They outlast the process when the future completes with `Ok`.
    ///
    /// # Errors
    /// Fails if the changes cannot be written.
    fn write(&self, changes: Vec<Change>) -> StoreFuture<'_, ()>;
}

type Dirty = BTreeMap<(Kind, String), Option<Row>>;

/// Changes that are not stored yet. Only the last change of each record is kept.
#[derive(Default)]
pub(crate) struct Journal {
    ledger: RwLock<Option<Arc<dyn Ledger>>>,
    dirty: Mutex<Dirty>,
    writing: tokio::sync::Mutex<()>,
}

impl Journal {
    #[cfg(any(feature = "sqlite", test))]
    pub(crate) fn keep_in(&self, ledger: Arc<dyn Ledger>) {
        *self.ledger.write().unwrap_or_else(PoisonError::into_inner) = Some(ledger);
    }

    fn ledger(&self) -> Option<Arc<dyn Ledger>> {
        self.ledger.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether there is a store.
    pub(crate) fn outlasts(&self) -> bool {
        self.ledger().is_some()
    }

    pub(crate) fn put(&self, kind: Kind, key: &str, expires: u64, value: &impl Serialize) {
        if !self.outlasts() {
            return;
        }
        match serde_json::to_string(value) {
            Ok(json) => {
                let row = Row { kind, key: key.to_owned(), expires, json };
                self.dirty().insert((kind, key.to_owned()), Some(row));
            }
            Err(why) => tracing::error!("the authorization server cannot keep a {kind:?}: {why}"),
        }
    }

    pub(crate) fn remove(&self, kind: Kind, key: &str) {
        if self.outlasts() {
            self.dirty().insert((kind, key.to_owned()), None);
        }
    }

    fn dirty(&self) -> std::sync::MutexGuard<'_, Dirty> {
        self.dirty.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loads the stored records that have not expired. Without a store, there are none.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub(crate) async fn load(&self, now: u64) -> Result<Vec<Row>, String> {
        match self.ledger() {
            Some(ledger) => ledger.load(now).await.map_err(|why| why.to_string()),
            None => Ok(Vec::new()),
        }
    }

    /// Waits until all earlier changes are stored. The write continues if the caller is dropped.
    ///
    /// # Errors
    /// Fails if the write fails. The next call tries the same changes again.
    pub(crate) async fn save(self: &Arc<Self>) -> Result<(), Refusal> {
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
            Ok(Err(why)) => Err(Refusal::broken("what was decided cannot be kept", &why)),
            Err(why) => Err(Refusal::broken("what was decided cannot be kept", &why)),
        }
    }
}
