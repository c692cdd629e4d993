//! Global state of log events for clients: whether the layer is installed, and from which level on clients want events. The layer is in
//! `observe`.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use crate::model::Level;

static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Most verbose level that any client has asked for, as `Level as u8`. `NOBODY` before the first one.
static WANTED: AtomicU8 = AtomicU8::new(NOBODY);
const NOBODY: u8 = u8::MAX;

/// Returns whether the layer is part of a subscriber. Only then does the server declare the capability `logging` (rule LOG-01).
pub(crate) fn is_installed() -> bool {
    INSTALLED.load(Ordering::Relaxed)
}

#[cfg(feature = "client-log")]
pub(crate) fn set_installed() {
    INSTALLED.store(true, Ordering::Relaxed);
}

/// Records that a client wants events from `level` up. The record stays after the client has disconnected: the only cost is a look at a
/// thread-local value for each such event.
pub(crate) fn listen(level: Level) {
    let before = WANTED.fetch_min(level as u8, Ordering::Relaxed);
    if before > level as u8 {
        tracing::callsite::rebuild_interest_cache();
    }
}

/// Returns the least severe level that any client has asked for.
#[cfg(feature = "client-log")]
pub(crate) fn wanted() -> Option<u8> {
    let level = WANTED.load(Ordering::Relaxed);
    (level != NOBODY).then_some(level)
}
