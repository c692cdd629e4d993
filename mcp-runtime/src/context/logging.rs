//! Whether log events of calls reach clients, and from which level on. The layer that sends them is in `observe`.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use crate::model::Level;

static INSTALLED: AtomicBool = AtomicBool::new(false);

/// The most verbose level any client has asked for so far, as `Level as u8`; `NOBODY` before the first one.
static WANTED: AtomicU8 = AtomicU8::new(NOBODY);
const NOBODY: u8 = u8::MAX;

/// Whether the layer is part of a subscriber: only then is `logging` advertised (LOG-01).
pub(crate) fn is_installed() -> bool {
    INSTALLED.load(Ordering::Relaxed)
}

#[cfg(feature = "client-log")]
pub(crate) fn set_installed() {
    INSTALLED.store(true, Ordering::Relaxed);
}

/// A client wants events from `level` up. This is not taken back when the client leaves: what is left then is
/// a look at a thread-local value for each such event.
pub(crate) fn listen(level: Level) {
    let before = WANTED.fetch_min(level as u8, Ordering::Relaxed);
    if before > level as u8 {
        tracing::callsite::rebuild_interest_cache();
    }
}

/// The least severe level any client has asked for.
#[cfg(feature = "client-log")]
pub(crate) fn wanted() -> Option<u8> {
    let level = WANTED.load(Ordering::Relaxed);
    (level != NOBODY).then_some(level)
}
