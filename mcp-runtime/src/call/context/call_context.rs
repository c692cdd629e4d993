//! The context of a running call: the server's state, the caller, and the channel back to the client.

use std::{
    any::{Any, TypeId},
    cell::{Cell, OnceCell},
    collections::{BTreeSet, HashMap},
    fmt,
    future::Ready,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};
#[cfg(feature = "http")]
use std::{sync::LazyLock, time::Duration};

#[cfg(feature = "http")]
use http::HeaderMap;
use mcp_runtime_wire::Raw;
use tokio::sync::Notify;

use super::{Asker, Carrier, Channel, TaskBegin};
use crate::{
    error::{Error, Result},
    item::SourceLocation,
    model::{ClientInfo, Level, Meta, NeedInput},
    unavailable::unavailable,
};

/// Values that all calls share, such as the state of the server. Each type has at most one value.
#[derive(Default)]
pub(crate) struct States(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl States {
    pub(crate) fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.0.insert(TypeId::of::<T>(), Arc::new(value));
    }

    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.get(&TypeId::of::<T>())?.downcast_ref()
    }

    pub(crate) fn share<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.get(&TypeId::of::<T>())?.clone().downcast().ok()
    }

    pub(crate) fn weak(&self) -> WeakStates {
        WeakStates(self.0.iter().map(|(id, state)| (*id, Arc::downgrade(state))).collect())
    }
}

/// [`States`] that end with the server. A state may contain a [`Handle`](crate::Handle), so the handle must not keep the state.
#[derive(Default)]
pub(crate) struct WeakStates(HashMap<TypeId, Weak<dyn Any + Send + Sync>>);

impl WeakStates {
    pub(crate) fn share<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.get(&TypeId::of::<T>())?.upgrade()?.downcast().ok()
    }
}

/// Data that all calls of a server share: the [`States`], and the permits for blocking jobs.
pub(crate) struct Environment {
    pub(crate) states: States,
    blocking: AtomicUsize,
    max_blocking: usize,
}

impl Environment {
    pub(crate) fn new(states: States, max_blocking: usize) -> Self {
        Self { states, blocking: AtomicUsize::new(0), max_blocking }
    }

    /// Returns a permit for one blocking job, or `None` if all permits are taken. A job keeps its permit until it ends, even if its call is
    /// cancelled or times out earlier.
    pub(crate) fn blocking_permit(self: &Arc<Self>) -> Option<BlockingPermit> {
        let taken = self.blocking.fetch_update(Ordering::AcqRel, Ordering::Acquire, |taken| {
            (taken < self.max_blocking).then_some(taken + 1)
        });
        taken.ok().map(|_| BlockingPermit(self.clone()))
    }

    pub(crate) fn max_blocking(&self) -> usize {
        self.max_blocking
    }
}

/// Permit for one blocking job, returned on drop.
pub(crate) struct BlockingPermit(Arc<Environment>);

impl Drop for BlockingPermit {
    fn drop(&mut self) {
        self.0.blocking.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Caller of an operation, and the options of its request.
#[derive(Clone, Default)]
pub(crate) struct Caller {
    pub(crate) client: Arc<ClientInfo>,
    /// The request's `_meta` as JSON text. Stored only for items that can read it.
    pub(crate) meta: Option<Box<str>>,
    /// Transport data of the request.
    #[cfg_attr(
        not(feature = "http"),
        allow(dead_code, reason = "only HTTP requests have more to say")
    )]
    pub(crate) carrier: Carrier,
    /// Channel for progress reports and log events. `None` if the client accepts nothing but the answer.
    pub(crate) channel: Option<Arc<dyn Channel>>,
    /// Handles questions to the client. `None` for items that ask no questions.
    pub(crate) asker: Option<Arc<dyn Asker>>,
    /// Turns the call into a task. `None` if the call cannot become a task.
    pub(crate) task: Option<Arc<dyn TaskBegin>>,
    /// Source location of the item, for errors that only the author reads.
    pub(crate) origin: Option<&'static SourceLocation>,
    /// Whether the client gave a progress token.
    pub(crate) wants_progress: bool,
    /// Least severe level of log events that the client wants for this call.
    pub(crate) log_level: Option<Level>,
    /// Call of the closure passed to `Builder::around`, if this call runs inside it. The two calls end together and share their progress
    /// reports.
    pub(crate) outer: Option<Context>,
}

/// Context of the call that a handler runs for, as the parameter `&Context`.
///
/// The context gives access to the client, the caller and the shared state. Handlers use it to report [progress](Self::progress), to notice
/// [cancellation](Self::cancel), and to ask questions during the call: [`elicit`](Self::elicit), [`elicit_url`](Self::elicit_url),
/// [`sample`](Self::sample) and [`roots`](Self::roots). A handler that needs only one of these can take [`Progress`](crate::Progress),
/// [`Cancel`](crate::Cancel), [`Client`](crate::extract::Client) or [`Elicit`](crate::elicitation::Elicit) instead.
///
/// A clone may outlive the call. The server drops reports that the clone sends after the answer.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Returns the name of the client.
/// #[tool]
/// fn whoami(ctx: &Context) -> String {
///     ctx.client().name.clone()
/// }
/// # fn main() {}
/// ```
#[derive(Clone)]
pub struct Context(pub(crate) Arc<CallState>);

pub(crate) struct CallState {
    pub(crate) environment: Arc<Environment>,
    pub(crate) caller: Caller,
    /// URI of the resource being read. `None` if the call does not read a resource.
    pub(crate) uri: Option<Box<str>>,
    pub(crate) cancelled: AtomicBool,
    pub(crate) cancel: Notify,
    /// Waker of the tokio task that runs the handler.
    pub(crate) waker: Mutex<Option<std::task::Waker>>,
    /// Whether the call has ended. After that no message is sent, because no message may follow the answer.
    pub(crate) over: AtomicBool,
    pub(crate) progress: Mutex<ProgressState>,
    /// Boxed, because few handlers use `once`.
    pub(super) onces: OnceLock<Box<Mutex<Onces>>>,
    /// The call's share of the limits. Blocking work holds a reference of its own, so the share stays reserved until that work has ended,
    /// even if the call ends earlier.
    reservation: OnceLock<Weak<dyn Any + Send + Sync>>,
}

/// The client, the caller and the state of the server.
impl Context {
    pub(crate) fn new(environment: Arc<Environment>, caller: Caller, uri: Option<&str>) -> Self {
        Self(Arc::new(CallState {
            environment,
            caller,
            uri: uri.map(Into::into),
            cancelled: AtomicBool::new(false),
            cancel: Notify::new(),
            waker: Mutex::new(None),
            over: AtomicBool::new(false),
            progress: Mutex::default(),
            onces: OnceLock::new(),
            reservation: OnceLock::new(),
        }))
    }

    /// Sets the share of the limits that the call holds while it runs.
    pub(crate) fn set_reservation(&self, reservation: Weak<dyn Any + Send + Sync>) {
        let _ = self.0.reservation.set(reservation);
    }

    /// Returns the share of the limits. Blocking work holds it, because such work may continue after the call was cancelled or has timed
    /// out.
    pub(crate) fn reservation(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        let own = self.0.reservation.get().and_then(Weak::upgrade);
        own.or_else(|| self.0.caller.outer.as_ref()?.reservation())
    }

    /// Returns the client's name, version and capabilities, as the client has declared them.
    pub fn client(&self) -> &ClientInfo {
        &self.0.caller.client
    }

    /// Returns the request's `_meta`, or an empty object if there is none.
    pub fn meta(&self) -> Meta {
        let text = self.0.caller.meta.as_deref();
        Meta(text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default())
    }

    /// Returns the shared state of type `T`, or `None` if the server has no such state.
    ///
    /// Prefer a parameter `&T` or [`State<T>`](crate::State). The server checks when it is built that it has the state for all parameters,
    /// but it cannot check calls of this method.
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.environment.states.get()
    }

    /// Returns the URI of the resource being read. `None` if the call does not read a resource.
    pub fn uri(&self) -> Option<&str> {
        self.0.uri.as_deref()
    }

    /// Returns the name of the calling [`Principal`](crate::auth::Principal). `None` if the caller is anonymous.
    pub fn principal(&self) -> Option<&str> {
        Some(self.0.caller.carrier.principal()).filter(|name| !name.is_empty())
    }

    /// Returns whether both contexts belong to the same call.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Marks the call as ended. No message is sent for the call after that.
    pub(crate) fn close(&self) {
        self.0.over.store(true, Ordering::Release);
        if self.0.caller.task.is_some() {
            // Wakes a handler that waits for its task to begin.
            self.0.cancel.notify_waiters();
        }
        if self.0.caller.channel.is_some() {
            // Another thread may have read `over` before it was set. That thread holds the lock until it has sent its message, so this line
            // waits for it.
            drop(self.lock_progress());
        }
    }

    /// Takes the lock under which messages are sent. [`close`](Self::close) also takes it, so that no message follows the answer.
    pub(crate) fn lock_progress(&self) -> MutexGuard<'_, ProgressState> {
        match &self.0.caller.outer {
            Some(outer) => outer.lock_progress(),
            None => self.0.progress.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Returns the questions that the client must answer before the handler can continue.
    pub(crate) fn need_input(&self) -> Result<Option<NeedInput>> {
        self.0.caller.asker.as_ref().map_or(Ok(None), |asker| asker.need_input())
    }

    /// Returns whether the call continues with answers from the client, so that its result depends on them.
    pub(crate) fn is_resumed(&self) -> bool {
        self.0.caller.asker.as_ref().is_some_and(|asker| asker.is_resumed())
    }

    /// Returns whether the call may be waiting for the user's answer to a question.
    pub(crate) fn is_waiting(&self) -> bool {
        self.0.caller.asker.as_ref().is_some_and(|asker| asker.is_waiting())
    }

    /// Returns an internal error for the author, with the source location of the item.
    pub(super) fn fault(&self, why: impl fmt::Display) -> Error {
        match &self.0.caller.origin {
            Some(origin) => Error::internal(format_args!("{origin}: {why}")),
            None => Error::internal(why),
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.0.over.load(Ordering::Acquire)
            || self.0.caller.outer.as_ref().is_some_and(Self::is_over)
    }
}

/// Progress that a call has reported.
#[derive(Debug, Default)]
pub(crate) struct ProgressState {
    pub(super) last: Option<f64>,
    pub(super) total: Option<f64>,
}

/// Uses of `once` in this run of the handler.
#[derive(Default)]
pub(crate) struct Onces {
    pub(super) keys: BTreeSet<String>,
    pub(super) misuse: Option<Error>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("client", &self.client().name)
            .field("uri", &self.uri())
            .finish_non_exhaustive()
    }
}

/// [`Context`] of a call, created on first use, because most handlers need only their arguments.
pub struct LazyContext<'a> {
    environment: &'a Arc<Environment>,
    uri: Option<&'a str>,
    /// Data for the context. `None` after the context was created.
    caller: Cell<Option<Caller>>,
    made: OnceCell<Context>,
}

impl<'a> LazyContext<'a> {
    pub(crate) fn new(
        environment: &'a Arc<Environment>,
        caller: Caller,
        uri: Option<&'a str>,
    ) -> Self {
        Self { environment, uri, caller: Cell::new(Some(caller)), made: OnceCell::new() }
    }

    pub(crate) fn get(&self) -> &Context {
        self.made.get_or_init(|| {
            let caller = self.caller.take().unwrap_or_default();
            Context::new(self.environment.clone(), caller, self.uri)
        })
    }

    /// Returns the context, or `None` if it was never created because the handler did not use it.
    pub(crate) fn made(&self) -> Option<&Context> {
        self.made.get()
    }

    /// Returns whether the call continues with answers from the client. Returns `false` if the context was never created, because a handler
    /// can only ask through its context.
    pub(crate) fn is_resumed(&self) -> bool {
        self.made().is_some_and(Context::is_resumed)
    }
}

impl fmt::Debug for LazyContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyContext").field("made", &self.made).finish_non_exhaustive()
    }
}

/// Types from which generated code takes the context.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the context of a call",
    label = "neither a `Context` nor a `LazyContext`",
    note = "only code that the attributes generate uses this trait"
)]
pub trait HasContext {
    /// Returns the context.
    fn context(&self) -> &Context;
    /// Returns the URI of the resource being read. `None` if the call does not read a resource.
    fn uri(&self) -> Option<&str>;
}

impl HasContext for Context {
    fn context(&self) -> &Context {
        self
    }

    fn uri(&self) -> Option<&str> {
        self.uri()
    }
}

impl HasContext for LazyContext<'_> {
    fn context(&self) -> &Context {
        self.get()
    }

    fn uri(&self) -> Option<&str> {
        self.uri
    }
}

/// Returns the text of a request's `_meta`.
pub(crate) fn meta_text(meta: Option<Raw<'_>>) -> Option<Box<str>> {
    meta.map(|meta| meta.as_str().into())
}

/// Empty headers, for calls that did not come over HTTP.
#[cfg(feature = "http")]
static NO_HEADERS: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);

/// Access to the HTTP request that started the call.
#[cfg(feature = "http")]
impl Context {
    /// Returns the headers of the HTTP request. Empty over other transports. A handler can also take `&HeaderMap` as a parameter.
    pub fn headers(&self) -> &HeaderMap {
        self.0.caller.carrier.head().map_or(&NO_HEADERS, |head| &head.headers)
    }

    /// Returns an extension that the surrounding application has added to the HTTP request. A handler can also take
    /// [`Extension`](crate::http::Extension) as a parameter.
    pub fn extension<T: Clone + Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.caller.carrier.head()?.extensions.get()
    }

    /// Ends the response stream on which the client waits for the answer, while the call continues.
    ///
    /// The client reconnects after `retry`, and gets all messages that the server has sent since (SEP-1699). Use this method for long work
    /// behind proxies that cut off long responses.
    ///
    /// Does nothing if the stream cannot be resumed: on other transports, under protocol revisions other than 2025-11-25, and for clients
    /// that accept no streams.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Builds the project.
    /// #[tool]
    /// async fn build(ctx: &Context) {
    ///     ctx.release_stream(Duration::from_secs(30));
    ///     tokio::time::sleep(Duration::from_secs(300)).await;
    /// }
    /// # fn main() {}
    /// ```
    ///
    /// Specification: Base protocol, Transports, Streamable HTTP.
    pub fn release_stream(&self, retry: Duration) {
        let lock = self.lock_progress();
        if let Some(channel) = self.0.caller.channel.as_ref().filter(|_| !self.is_over()) {
            channel.release(retry);
        }
        drop(lock);
    }
}

// Methods that other frameworks have on their context. Calling one of them does not compile, and the error names the alternative.

#[diagnostic::on_unimplemented(
    message = "a `Context` does not log: events of `tracing` go to the client that asked for them",
    label = "not a method of `Context`",
    note = "run `cargo add tracing`, and write `tracing::info!(\"…\")` here, or `debug`, `warn` or `error` instead of `info`"
)]
#[allow(missing_docs, reason = "public only for the compiler")]
pub trait LogsThroughTracing {
    type Any;
}

#[diagnostic::on_unimplemented(
    message = "a `Context` does not report progress itself; its `Progress` does",
    label = "not a method of `Context`",
    note = "write `.progress().total(total).report(done)`, or take a parameter `progress: Progress`"
)]
#[allow(missing_docs, reason = "public only for the compiler")]
pub trait ReportsThroughProgress {
    type Any;
}

unavailable! {
    impl Context where LogsThroughTracing {
        fn debug<M>(&self, _: M) -> Ready<()>;
        fn info<M>(&self, _: M) -> Ready<()>;
        fn warn<M>(&self, _: M) -> Ready<()>;
        fn warning<M>(&self, _: M) -> Ready<()>;
        fn error<M>(&self, _: M) -> Ready<()>;
        fn log<L, M>(&self, _: L, _: M) -> Ready<()>;
    }
}

unavailable! {
    impl Context where ReportsThroughProgress {
        fn report_progress<D, T>(&self, _: D, _: T) -> Ready<()>;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_permit_can_be_taken_again() {
        let environment = Arc::new(Environment::new(States::default(), 1));
        let permit = environment.blocking_permit();
        assert!(permit.is_some());
        assert!(environment.blocking_permit().is_none());
        drop(permit);
        assert!(environment.blocking_permit().is_some());
    }
}
