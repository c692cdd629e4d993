//! The live catalog: the current items of the server, and their snapshots.
//!
//! Readers work on an immutable [`Snapshot`]. A change of the [`ItemIndex`](index::ItemIndex) discards the snapshot and publishes an event
//! on the [`Bus`](bus::Bus). The next reader creates a new snapshot, so many changes in a row cost only one snapshot. All sessions share
//! one catalog (rule C-25).

mod argument_check;
mod bus;
mod cursor;
mod dynamic;
mod entry;
mod index;
mod live;
mod schemas;
mod shared;
mod snapshot;
mod switch;

pub(crate) use bus::{Event, Listener, Topic};
#[cfg(feature = "bench")]
pub(crate) use cursor::ListCursor;
pub use dynamic::{Prompt, Resource, Tool, Variables};
pub(crate) use entry::{
    Entry, EntryKind, Handler, PromptArgument, PromptEntry, ResourceEntry, ToolEntry,
};
pub(crate) use live::{Catalog, HandleSource};
pub use live::{Handle, Item};
pub(crate) use shared::{restore as restore_switches, share};
pub(crate) use snapshot::{PageSizes, Snapshot};
