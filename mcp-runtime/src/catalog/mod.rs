//! The live catalog: the items that the server has now, and their snapshots.
//!
//! Readers work on an immutable [`Snapshot`]. A change of the [`Items`] discards the snapshot and publishes an event on the [`Bus`]. The
//! next reader makes a new snapshot, so many changes in a row cost only one. All sessions share one catalog (rule C-25).

mod bus;
mod cursor;
mod dynamic;
mod entry;
mod handle;
mod items;
mod schemas;
mod snapshot;

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, RwLock,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

pub(crate) use bus::{Bus, Event, Listener, Topic};
pub use dynamic::{Prompt, Resource, Tool, Variables};
pub(crate) use entry::{
    Entry, EntryKind, Handler, PromptArgument, PromptEntry, ResourceEntry, ToolEntry,
};
pub(crate) use handle::Origin;
pub use handle::{Handle, Item};
use items::{Change, Items};
pub(crate) use snapshot::{PageSizes, Snapshot};

use crate::{
    limits::{RateConfig, RefusalCounters, Shares},
    schema::SchemaProfile,
};

#[cfg(feature = "bench")]
pub(crate) use cursor::Cursor;

pub(crate) struct Catalog {
    items: Mutex<Items>,
    /// Latest snapshot; `None` if the items have changed since.
    current: RwLock<Option<Arc<Snapshot>>>,
    epoch: AtomicU64,
    /// Schema profile of tools that set none.
    profile: SchemaProfile,
    /// Rate and concurrency of items that set none.
    wanted: RateConfig,
    /// Whether access is restricted even for items without `scopes` and `auth`.
    #[cfg(feature = "auth")]
    guards_all: bool,
    /// Whether a [`Handle`] exists. Without one nothing can change, and the server does not advertise changes.
    is_dynamic: AtomicBool,
    pages: PageSizes,
    pub(crate) bus: Bus,
    /// Counts of rejected requests. They are here so that a [`Handle`] can return them.
    pub(crate) tally: Arc<RefusalCounters>,
    /// Shares of the resources that all clients use together.
    pub(crate) shares: Arc<Shares>,
}

impl Catalog {
    pub(crate) fn new(entries: Vec<Entry>, pages: PageSizes, profile: SchemaProfile) -> Self {
        Self {
            wanted: RateConfig::default(),
            #[cfg(feature = "auth")]
            guards_all: false,
            items: Mutex::new(Items::new(entries)),
            current: RwLock::default(),
            epoch: AtomicU64::new(0),
            profile,
            is_dynamic: AtomicBool::new(false),
            pages,
            bus: Bus::default(),
            tally: Arc::default(),
            shares: Arc::default(),
        }
    }

    /// Sets rate and concurrency of items that set none and are added later.
    pub(crate) fn wanting(self, wanted: RateConfig) -> Self {
        Self { wanted, ..self }
    }

    /// Sets whether access is restricted even for items without `scopes` and `auth` that are added later.
    #[cfg(feature = "auth")]
    pub(crate) fn guarding(self, guards_all: bool) -> Self {
        Self { guards_all, ..self }
    }

    /// Returns a number that grows with every change of the catalog. A reader that keeps a snapshot compares it instead of taking the lock.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Whether the items may change.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.is_dynamic.load(Ordering::Acquire)
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        if let Some(current) = self.current() {
            return current;
        }
        let items = self.items();
        // While this thread waited for the lock, another one may have made the snapshot.
        self.current().unwrap_or_else(|| {
            let made = Arc::new(Snapshot::new(self.epoch(), &items, self.pages));
            self.set_current(Some(made.clone()));
            made
        })
    }

    fn items(&self) -> MutexGuard<'_, Items> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self) -> Option<Arc<Snapshot>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the current snapshot and returns the previous one.
    fn set_current(&self, snapshot: Option<Arc<Snapshot>>) -> Option<Arc<Snapshot>> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *current, snapshot)
    }

    /// Changes the items, and tells the clients which lists differ.
    fn change<E>(&self, change: impl FnOnce(&mut Items) -> Result<Change, E>) -> Result<(), E> {
        let mut items = self.items();
        let change = change(&mut items)?;
        if change.is_empty() {
            return Ok(());
        }
        let outdated = self.set_current(None);
        // The epoch changes only now: a reader that sees the new epoch must not find the old snapshot.
        self.epoch.fetch_add(1, Ordering::AcqRel);
        drop(items);
        for event in change.events() {
            self.bus.publish(&event);
        }
        drop((change, outdated));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::context::Context;

    #[test]
    fn a_new_snapshot_is_made_at_the_first_read_after_a_change() {
        let catalog = Catalog::new(Vec::new(), PageSizes::default(), SchemaProfile::default());
        let handle = Arc::new(catalog).handle();
        let before = handle.0.snapshot();
        for name in ["a", "b"] {
            handle.add(Tool::new(name).handler(async |_: Context| "")).unwrap();
            assert!(handle.0.current().is_none());
        }
        let after = handle.0.snapshot();
        assert_eq!((before.epoch, after.epoch, handle.0.epoch()), (0, 2, 2));
        let count = |it: &Snapshot| it.list(crate::model::ListKind::Tools).len();
        assert_eq!((count(&before), count(&after)), (0, 2));
        // A call that changes nothing keeps the snapshot.
        assert!(handle.enable("a") && !handle.remove("c"));
        assert!(Arc::ptr_eq(&after, &handle.0.snapshot()));
    }
}
