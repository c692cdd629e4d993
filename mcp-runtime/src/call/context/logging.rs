//! State for log events that go to clients: whether the layer is installed, the level that clients want, and the call that an event
//! belongs to. The layer is in `observe`.

use std::{
    cell::RefCell,
    sync::{
        Once,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
};

use super::Context;
use crate::model::Level;

static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Most verbose level that any client has asked for, as `Level as u8`. `NOBODY` until a client asks.
static WANTED: AtomicU8 = AtomicU8::new(NOBODY);
const NOBODY: u8 = u8::MAX;

/// Returns whether the layer is part of a subscriber. The server declares the capability `logging` only in this case (rule LOG-01).
pub(crate) fn is_installed() -> bool {
    INSTALLED.load(Ordering::Relaxed)
}

#[cfg(feature = "client-log")]
pub(crate) fn set_installed() {
    INSTALLED.store(true, Ordering::Relaxed);
}

/// Logs a warning for the first client that asks for log messages, if no layer can send them.
#[cold]
pub(crate) fn warn_unless_installed() {
    const FIX: &str = if cfg!(feature = "client-log") {
        "add the layer `mcp_runtime::logging::client_log()` to the subscriber of the program"
    } else {
        "run `cargo add mcp-runtime --features client-log`"
    };
    static WARNED: Once = Once::new();
    if !is_installed() {
        WARNED.call_once(|| {
            tracing::warn!("a client asks for log messages, but the server cannot send any: {FIX}");
        });
    }
}

/// Records that a client wants events of this level and more severe ones. The level stays recorded after the client has disconnected. The
/// only cost is a read of a thread-local value for each such event.
pub(crate) fn listen(level: Level) {
    let before = WANTED.fetch_min(level as u8, Ordering::Relaxed);
    if before > level as u8 {
        tracing::callsite::rebuild_interest_cache();
        warn_unless_installed();
    }
}

/// Returns the least severe level that any client has asked for.
#[cfg(feature = "client-log")]
pub(crate) fn wanted() -> Option<u8> {
    let level = WANTED.load(Ordering::Relaxed);
    (level != NOBODY).then_some(level)
}

thread_local! {
    /// The call whose code runs on this thread, if its client wants log events.
    static CURRENT: RefCell<Option<Context>> = const { RefCell::new(None) };
}

/// Guard that assigns the log events of this thread to a call until the guard is dropped.
pub(crate) struct LogScope {
    /// Value to restore, or `None` if nothing was changed.
    before: Option<Option<Context>>,
}

pub(crate) fn enter(context: &Context) -> LogScope {
    if context.0.caller.log_level.is_none() {
        return LogScope { before: None };
    }
    LogScope { before: Some(CURRENT.replace(Some(context.clone()))) }
}

impl Drop for LogScope {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            CURRENT.set(before);
        }
    }
}

#[cfg(feature = "client-log")]
pub(crate) fn current() -> Option<Context> {
    // An event that is logged while the value is being replaced belongs to no call.
    CURRENT.with(|current| current.try_borrow().ok().and_then(|context| context.clone()))
}
