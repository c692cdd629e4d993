//! The live catalog: what the server has now, and what is derived from it.
//!
//! Readers work on an immutable [`Snapshot`]; a change makes a new one and tells the [`Bus`]. There is one
//! catalog, never one per session (C-25).

mod bus;
mod cursor;
mod dynamic;
mod entry;
mod handle;
mod schemas;
mod snapshot;

use std::sync::{
    Arc, Mutex, PoisonError, RwLock,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

pub(crate) use bus::{Bus, Event, Listener};
pub use dynamic::{Prompt, Resource, Tool, Variables};
pub(crate) use entry::{
    Entry, EntryKind, Handler, Listed, PromptArgument, PromptEntry, ResourceEntry, ToolEntry,
};
pub(crate) use handle::Origin;
pub use handle::{Handle, Item};
pub(crate) use snapshot::{PageSizes, Snapshot};

use crate::schema::SchemaProfile;

#[cfg(feature = "bench")]
pub(crate) use cursor::Cursor;

pub(crate) struct Catalog {
    current: RwLock<Arc<Snapshot>>,
    epoch: AtomicU64,
    /// What the schemas of tools are published in that say nothing of their own.
    profile: SchemaProfile,
    /// Whether anybody has got hold of a [`Handle`]: without one nothing can ever change, and no change is promised.
    is_dynamic: AtomicBool,
    /// Held while a change is worked out, so that two changes cannot lose each other.
    changing: Mutex<()>,
    pub(crate) bus: Bus,
}

impl Catalog {
    pub(crate) fn new(entries: Vec<Entry>, pages: PageSizes, profile: SchemaProfile) -> Self {
        let entries =
            entries.into_iter().map(|it| Listed { entry: Arc::new(it), enabled: true }).collect();
        Self {
            current: RwLock::new(Arc::new(Snapshot::new(0, entries, pages))),
            epoch: AtomicU64::new(0),
            profile,
            is_dynamic: AtomicBool::new(false),
            changing: Mutex::new(()),
            bus: Bus::default(),
        }
    }

    /// Changes with every change of the catalog. A reader that keeps a snapshot compares this instead of
    /// taking the lock.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Whether changes must be expected.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.is_dynamic.load(Ordering::Acquire)
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the entries by what `change` makes of them, and tells the clients which lists differ.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Vec<Listed>) -> Result<T, String>,
    ) -> Result<T, String> {
        let changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.snapshot();
        let mut entries = before.entries.clone();
        let result = change(&mut entries)?;
        let after = Arc::new(Snapshot::new(before.epoch + 1, entries, before.pages));
        let events = after.differences(&before);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = after;
        self.epoch.fetch_add(1, Ordering::AcqRel);
        for event in events {
            self.bus.publish(&event);
        }
        // What was removed goes after the lock: a handler owns what it captured, and that may change the server when it is dropped.
        drop(changing);
        Ok(result)
    }
}
