//! What must outlast the process, on its way to where it is kept.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use serde::Serialize;

use super::refusal::Refusal;
use crate::task::Keeping;

/// What is kept.
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

/// One thing that is kept, as JSON, without anything that would let somebody in.
#[derive(Clone)]
#[cfg_attr(not(feature = "sqlite"), allow(dead_code, reason = "only files forget by themselves"))]
pub(crate) struct Row {
    pub(crate) kind: Kind,
    pub(crate) key: String,
    /// In seconds since 1970.
    pub(crate) expires: u64,
    pub(crate) json: String,
}

/// What has become of one thing: `None` where it is gone.
pub(crate) type Change = (Kind, String, Option<Row>);

/// Where clients and grants outlast the process.
pub(crate) trait Ledger: Send + Sync + 'static {
    /// All that has not expired, and nothing else.
    ///
    /// # Errors
    /// When it cannot be read.
    fn load(&self, now: u64) -> Keeping<'_, Vec<Row>>;

    /// Keeps all of it or nothing. When this is done it outlasts the process.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn write(&self, changes: Vec<Change>) -> Keeping<'_, ()>;
}

type Dirty = BTreeMap<(Kind, String), Option<Row>>;

/// What has changed and is not kept yet: of each thing the last that was said of it.
#[derive(Default)]
pub(super) struct Journal {
    ledger: RwLock<Option<Arc<dyn Ledger>>>,
    dirty: Mutex<Dirty>,
    writing: tokio::sync::Mutex<()>,
}

impl Journal {
    #[cfg(any(feature = "sqlite", test))]
    pub(super) fn keep_in(&self, ledger: Arc<dyn Ledger>) {
        *self.ledger.write().unwrap_or_else(PoisonError::into_inner) = Some(ledger);
    }

    fn ledger(&self) -> Option<Arc<dyn Ledger>> {
        self.ledger.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether anything outlasts the process.
    pub(super) fn outlasts(&self) -> bool {
        self.ledger().is_some()
    }

    pub(super) fn put(&self, kind: Kind, key: &str, expires: u64, value: &impl Serialize) {
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

    pub(super) fn remove(&self, kind: Kind, key: &str) {
        if self.outlasts() {
            self.dirty().insert((kind, key.to_owned()), None);
        }
    }

    fn dirty(&self) -> std::sync::MutexGuard<'_, Dirty> {
        self.dirty.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that was kept, when the server starts.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) async fn load(&self, now: u64) -> Result<Vec<Row>, String> {
        match self.ledger() {
            Some(ledger) => ledger.load(now).await.map_err(|why| why.message().to_owned()),
            None => Ok(Vec::new()),
        }
    }

    /// Waits until all that was said before is kept, also if whoever waits leaves.
    ///
    /// # Errors
    /// When it is not. It is tried again the next time.
    pub(super) async fn save(self: &Arc<Self>) -> Result<(), Refusal> {
        let Some(ledger) = self.ledger() else { return Ok(()) };
        let own = self.clone();
        let saved = tokio::spawn(async move {
            // One after the other, so that what is older never comes last.
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
