//! State for log events that go to clients: whether the layer is installed, the level that clients want, and the call that an event
//! belongs to. The layer is in `observe`.

use std::{
    cell::RefCell,
    future::{Future, poll_fn},
    pin::pin,
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

/// Log messages from other tasks and threads.
impl Context {
    /// Runs a future as a part of the call, so that its `tracing` events reach the client of the call.
    ///
    /// The events of a handler belong to its call, but those of a spawned tokio task belong to none, and go only to the log of the server.
    /// After the call has ended, so do the events of this future. On a thread, use [`in_scope`](Self::in_scope).
    ///
    /// The future does nothing else than the given one. Dropping it drops the given one.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Builds the project, even if the client cancels.
    /// #[tool]
    /// async fn build(ctx: &Context) -> Result<&'static str> {
    ///     let work = ctx.scope(async {
    ///         tracing::info!("compiling");
    ///         "built"
    ///     });
    ///     tokio::spawn(work).await.map_err(Error::internal)
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// Specification: Server features, Utilities, Logging.
    pub fn scope<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        let context = self.clone();
        async move {
            let mut future = pin!(future);
            poll_fn(|cx| context.in_scope(|| future.as_mut().poll(cx))).await
        }
    }

    /// Runs a closure as a part of the call, so that its `tracing` events reach the client of the call.
    ///
    /// Use it on a thread that the handler has started, or in `spawn_blocking`. A function with `#[tool(blocking)]` does not need it. After
    /// the call has ended, the events go only to the log of the server. For a future, use [`scope`](Self::scope).
    ///
    /// # Panics
    /// Panics if the closure panics.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Sorts the archive on a thread of its own.
    /// #[tool]
    /// async fn sort(ctx: Context) -> Result<()> {
    ///     let work = move || ctx.in_scope(|| tracing::info!("sorting"));
    ///     tokio::task::spawn_blocking(work).await.map_err(Error::internal)
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// Specification: Server features, Utilities, Logging.
    pub fn in_scope<R>(&self, run: impl FnOnce() -> R) -> R {
        let _scope = enter(self);
        run()
    }
}

#[cfg(feature = "client-log")]
pub(crate) fn current() -> Option<Context> {
    // An event that is logged while the value is being replaced belongs to no call.
    CURRENT.with(|current| current.try_borrow().ok().and_then(|context| context.clone()))
}
