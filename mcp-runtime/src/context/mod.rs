//! What a running call can reach: the server's state, the caller, and the way back to the client.
//!
//! The traits the upper layers implement are defined here, so that nothing below `dispatch` knows a protocol.

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
    item::Origin,
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

/// The way back to the client while a call runs. `protocol` implements it in its revision's words.
pub(crate) trait Channel: Send + Sync {
    /// Ends the stream of the call early, where its client can come back for the rest after `retry`.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has streams"))]
    fn release(&self, retry: Duration);
    /// Hands on a report that is already known to be greater than the last one.
    fn progress(&self, report: Report);
    /// `data` is JSON text.
    #[cfg_attr(
        not(feature = "client-log"),
        allow(dead_code, reason = "only `client_log()` sends any")
    )]
    fn log(&self, level: Level, logger: &str, data: &str);
}

/// Who calls, and what they asked for besides the operation.
#[derive(Clone, Default)]
pub(crate) struct Caller {
    pub(crate) client: Arc<ClientInfo>,
    /// The request's `_meta`, JSON text; kept only for items that can ask for it.
    pub(crate) meta: Option<Box<str>>,
    /// What the request came in.
    #[cfg_attr(
        not(feature = "http"),
        allow(dead_code, reason = "only HTTP requests have more to say")
    )]
    pub(crate) carrier: Carrier,
    /// Where reports and log events go; `None` when there is nothing to be sent but the answer.
    pub(crate) channel: Option<Arc<dyn Channel>>,
    /// Who puts questions to the client; `None` for items that ask nothing.
    pub(crate) asker: Option<Arc<dyn Asker>>,
    /// How the call becomes a task, where it can.
    pub(crate) task: Option<Arc<dyn TaskBegin>>,
    /// The place of the item in its author's code, for what only the author reads.
    pub(crate) origin: Option<&'static Origin>,
    /// Whether the client gave a progress token.
    pub(crate) wants_progress: bool,
    /// The least severe log event the client wants of this call.
    pub(crate) log_level: Option<Level>,
    /// The call that this one is a part of, under `around`: they end together and report as one.
    pub(crate) outer: Option<Context>,
}

impl Caller {
    /// One that only waits for the answer.
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

/// The call a handler runs for: take `&Context` as a parameter.
///
/// A clone may outlive the call; what is reported through it after the answer has gone out is dropped.
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
    /// The URI that is being read, for resources.
    pub(crate) uri: Option<Box<str>>,
    pub(crate) cancelled: AtomicBool,
    pub(crate) cancel: Notify,
    /// Of the task that runs the handler.
    pub(crate) waker: Mutex<Option<std::task::Waker>>,
    /// Set when the answer has gone out: nothing may follow it.
    pub(crate) over: AtomicBool,
    pub(crate) progress: Mutex<ProgressState>,
    /// Boxed, since few handlers use it.
    onces: OnceLock<Box<Mutex<Onces>>>,
    /// What is given back when the call ends, for work of it that goes on after that.
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

    /// Says what the call holds as long as it runs.
    pub(crate) fn hold(&self, place: Weak<dyn Any + Send + Sync>) {
        let _ = self.0.place.set(place);
    }

    /// What it holds, for work that cannot be stopped when the call is given up.
    pub(crate) fn place(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        let own = self.0.place.get().and_then(Weak::upgrade);
        own.or_else(|| self.0.caller.outer.as_ref()?.place())
    }

    /// What the client says of itself.
    pub fn client(&self) -> &ClientInfo {
        &self.0.caller.client
    }

    /// For reporting how far the work has come.
    pub fn progress(&self) -> Progress {
        Progress(self.clone())
    }

    /// For noticing that the answer is no longer wanted. An `async` handler needs it only for cleaning up:
    /// its future is dropped.
    pub fn cancel(&self) -> Cancel {
        Cancel(self.clone())
    }

    /// The request's `_meta`, empty when there is none.
    pub fn meta(&self) -> Meta {
        let text = self.0.caller.meta.as_deref();
        Meta(text.and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default())
    }

    /// Shared state by its type, when the server has it. A parameter `&T` or `State<T>` is checked when the
    /// server starts; this is not.
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.environment.states.get()
    }

    /// The URI that is being read, in a resource.
    pub fn uri(&self) -> Option<&str> {
        self.0.uri.as_deref()
    }

    /// Whether both are of the same call.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Nothing more is sent for this call from here on.
    pub(crate) fn close(&self) {
        self.0.over.store(true, Ordering::Release);
        if self.0.caller.task.is_some() {
            // Somebody may wait for a task to begin.
            self.0.cancel.notify_waiters();
        }
        if self.0.caller.channel.is_some() {
            // Whoever sends from another thread looked before, and holds the lock until it is sent.
            drop(self.lock_progress());
        }
    }

    /// Held while something is sent, so that nothing passes the answer.
    pub(crate) fn lock_progress(&self) -> MutexGuard<'_, ProgressState> {
        match &self.0.caller.outer {
            Some(outer) => outer.lock_progress(),
            None => self.0.progress.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// What the client must be asked before the handler can go on.
    pub(crate) fn need_input(&self) -> Result<Option<NeedInput>> {
        self.0.caller.asker.as_ref().map_or(Ok(None), |it| it.need_input())
    }

    /// Whether the answer is made of what the client answered.
    pub(crate) fn is_resumed(&self) -> bool {
        self.0.caller.asker.as_ref().is_some_and(|it| it.is_resumed())
    }

    /// Whether a person may be thinking about a question.
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

/// `_meta` of a request, as far as every operation reads it.
pub(crate) fn meta_text(meta: Option<Raw<'_>>) -> Option<Box<str>> {
    meta.map(|it| it.as_str().into())
}
