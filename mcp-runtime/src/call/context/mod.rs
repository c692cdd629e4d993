//! The context of a running call: the server's state, the caller, and the channel back to the client.
//!
//! The traits that the upper layers implement are defined here, so that nothing below `dispatch` knows a protocol.

#[cfg(feature = "auth")]
mod access;
mod ask_all;
mod asker;
mod asking;
#[cfg(feature = "auth")]
mod authorization;
mod cancel;
mod carrier;
#[allow(missing_docs, reason = "public only for the compiler")]
mod elsewhere;
mod environment;
#[cfg(feature = "auth")]
mod hierarchy;
#[cfg(feature = "http")]
mod http;
#[allow(missing_docs, reason = "public only for generated code")]
mod lazy;
pub(crate) mod logging;
mod once;
mod principal;
mod progress;
mod scope;
mod task;

use std::{
    any::Any,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::Notify;

use crate::{
    error::Result,
    item::SourceLocation,
    model::{ClientInfo, Level, Meta, NeedInput},
    wire::Raw,
};

#[cfg(feature = "http")]
pub use self::http::Extension;
#[cfg(feature = "auth")]
pub(crate) use access::Given;
#[cfg(feature = "auth")]
pub use access::{Access, Policy, decide};
pub use ask_all::AskAll;
pub(crate) use asker::{Asker, Asking};
pub use asking::Asked;
#[cfg(feature = "auth")]
pub use authorization::{Auth, Authorization};
pub use cancel::Cancel;
pub(crate) use carrier::Carrier;
pub(crate) use environment::{Environment, States};
#[cfg(feature = "auth")]
pub(crate) use hierarchy::Hierarchy;
pub use lazy::{HasContext, LazyContext};
use once::Onces;
pub use principal::Principal;
pub use progress::{Amount, Over, OverStream, Progress};
pub(crate) use progress::{ProgressState, Report};
#[cfg(feature = "client-log")]
pub(crate) use scope::current;
pub(crate) use scope::enter;
pub(crate) use task::{Beginning, TaskBegin};

/// Channel to the client while a call runs. `protocol` implements it for its revisions.
pub(crate) trait Channel: Send + Sync {
    /// Ends the stream of the call early, if the client can come back for the rest after `retry`.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has streams"))]
    fn release(&self, retry: Duration);
    /// Sends a report, which the caller has checked to be greater than the last one.
    fn progress(&self, report: Report);
    /// Sends a log event. `data` is JSON text.
    #[cfg_attr(
        not(feature = "client-log"),
        allow(dead_code, reason = "only `client_log()` sends any")
    )]
    fn log(&self, level: Level, logger: &str, data: &str);
}

/// The caller, and the options of the request besides the operation.
#[derive(Clone, Default)]
pub(crate) struct Caller {
    pub(crate) client: Arc<ClientInfo>,
    /// The request's `_meta` as JSON text. Kept only for items that can ask for it.
    pub(crate) meta: Option<Box<str>>,
    /// Transport data of the request.
    #[cfg_attr(
        not(feature = "http"),
        allow(dead_code, reason = "only HTTP requests have more to say")
    )]
    pub(crate) carrier: Carrier,
    /// Channel for reports and log events. `None` if only the answer can be sent.
    pub(crate) channel: Option<Arc<dyn Channel>>,
    /// Asks the client. `None` for items that ask nothing.
    pub(crate) asker: Option<Arc<dyn Asker>>,
    /// Turns the call into a task. `None` if it cannot become one.
    pub(crate) task: Option<Arc<dyn TaskBegin>>,
    /// Place of the item in the author's code, for errors that only the author reads.
    pub(crate) origin: Option<&'static SourceLocation>,
    /// Whether the client gave a progress token.
    pub(crate) wants_progress: bool,
    /// Least severe level of log events that the client wants of this call.
    pub(crate) log_level: Option<Level>,
    /// Outer call, if this call runs under `around`. Both end together and share their reports.
    pub(crate) outer: Option<Context>,
}

impl Caller {
    /// Creates a caller that only waits for the answer.
    pub(crate) fn new(client: Arc<ClientInfo>) -> Self {
        Self {
            client,
            meta: None,
            carrier: Carrier::default(),
            channel: None,
            asker: None,
            task: None,
            origin: None,
            wants_progress: false,
            log_level: None,
            outer: None,
        }
    }
}

/// The call that a handler runs for. Take `&Context` as a parameter.
///
/// A clone may outlive the call. Reports through it are dropped after the answer has been sent.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Says who is asking.
/// #[tool]
/// fn whoami(ctx: &Context) -> String {
///     ctx.client().name.clone()
/// }
/// # fn main() {}
/// ```
#[derive(Clone)]
pub struct Context(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) environment: Arc<Environment>,
    pub(crate) caller: Caller,
    /// URI that is read, in a resource.
    pub(crate) uri: Option<Box<str>>,
    pub(crate) cancelled: AtomicBool,
    pub(crate) cancel: Notify,
    /// Waker of the task that runs the handler.
    pub(crate) waker: Mutex<Option<std::task::Waker>>,
    /// Set when the call ends: no message may follow the answer.
    pub(crate) over: AtomicBool,
    pub(crate) progress: Mutex<ProgressState>,
    /// Boxed, because few handlers use it.
    onces: OnceLock<Box<Mutex<Onces>>>,
    /// The call's share of limits. Blocking work keeps it beyond the end of the call.
    place: OnceLock<Weak<dyn Any + Send + Sync>>,
}

impl Context {
    pub(crate) fn new(environment: Arc<Environment>, caller: Caller, uri: Option<&str>) -> Self {
        Self(Arc::new(Inner {
            environment,
            caller,
            uri: uri.map(Into::into),
            cancelled: AtomicBool::new(false),
            cancel: Notify::new(),
            waker: Mutex::new(None),
            over: AtomicBool::new(false),
            progress: Mutex::default(),
            onces: OnceLock::new(),
            place: OnceLock::new(),
        }))
    }

    /// Sets the share of limits that the call holds while it runs.
    pub(crate) fn hold(&self, place: Weak<dyn Any + Send + Sync>) {
        let _ = self.0.place.set(place);
    }

    /// Returns the share of limits, for work that cannot be stopped when the call is given up.
    pub(crate) fn place(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        let own = self.0.place.get().and_then(Weak::upgrade);
        own.or_else(|| self.0.caller.outer.as_ref()?.place())
    }

    /// Returns the client's description of itself.
    pub fn client(&self) -> &ClientInfo {
        &self.0.caller.client
    }

    /// Returns a [`Progress`] to report how far the work has come.
    pub fn progress(&self) -> Progress {
        Progress(self.clone())
    }

    /// Returns a [`Cancel`] to notice that the answer is no longer needed. An `async` handler needs it only for clean-up, because its
    /// future is dropped.
    pub fn cancel(&self) -> Cancel {
        Cancel(self.clone())
    }

    /// Returns the request's `_meta`. Empty if there is none.
    pub fn meta(&self) -> Meta {
        let text = self.0.caller.meta.as_deref();
        Meta(text.and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default())
    }

    /// Returns the shared state of type `T`, if the server has it. The server checks a parameter `&T` or `State<T>` at its start, but not
    /// this call.
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.environment.states.get()
    }

    /// Returns the URI that is read, in a resource.
    pub fn uri(&self) -> Option<&str> {
        self.0.uri.as_deref()
    }

    /// Returns whether both belong to the same call.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Ends the call: nothing more is sent for it.
    pub(crate) fn close(&self) {
        self.0.over.store(true, Ordering::Release);
        if self.0.caller.task.is_some() {
            // The handler may be waiting for a task to begin.
            self.0.cancel.notify_waiters();
        }
        if self.0.caller.channel.is_some() {
            // A sending thread may have checked `over` before. It holds the lock until its message is sent.
            drop(self.lock_progress());
        }
    }

    /// Locks sending, so that no message follows the answer.
    pub(crate) fn lock_progress(&self) -> MutexGuard<'_, ProgressState> {
        match &self.0.caller.outer {
            Some(outer) => outer.lock_progress(),
            None => self.0.progress.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Returns the questions that the client must answer before the handler can continue.
    pub(crate) fn need_input(&self) -> Result<Option<NeedInput>> {
        self.0.caller.asker.as_ref().map_or(Ok(None), |it| it.need_input())
    }

    /// Returns whether the result depends on answers of the client.
    pub(crate) fn is_resumed(&self) -> bool {
        self.0.caller.asker.as_ref().is_some_and(|it| it.is_resumed())
    }

    /// Returns whether the user may be thinking about a question.
    pub(crate) fn is_waiting(&self) -> bool {
        self.0.caller.asker.as_ref().is_some_and(|it| it.is_waiting())
    }

    pub(crate) fn is_over(&self) -> bool {
        self.0.over.load(Ordering::Acquire)
            || self.0.caller.outer.as_ref().is_some_and(Self::is_over)
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("client", &self.client().name)
            .field("uri", &self.uri())
            .finish_non_exhaustive()
    }
}

/// Returns the text of a request's `_meta`.
pub(crate) fn meta_text(meta: Option<Raw<'_>>) -> Option<Box<str>> {
    meta.map(|it| it.as_str().into())
}
