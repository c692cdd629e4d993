//! `server!()`, and the settings of a server before it starts.

mod assert;
#[cfg(feature = "auth")]
mod auth;
mod build;
mod caught;
mod check;
#[cfg(not(all(feature = "stdio", feature = "axum", feature = "auth", feature = "state-key")))]
mod disabled;
mod duplicates;
#[cfg(feature = "http")]
mod http;
mod identity;
mod items;
#[cfg(feature = "http")]
mod network;
mod pace;
mod place;
mod round_state;
mod server;
mod setup;
mod size;
mod task_store;

use std::{
    any::{TypeId, type_name},
    fmt,
    future::Future,
    pin::Pin,
    time::Duration,
};

#[cfg(feature = "http")]
pub(crate) use http::HttpSettings;
#[cfg(all(feature = "http", feature = "stdio"))]
pub(crate) use http::{host_problem, origin_problem, path_problem};
pub use identity::Identity;
pub use items::{Items, items, named};
#[cfg(feature = "http")]
pub(crate) use network::{Network, written_address};
pub(crate) use place::Place;
pub use server::Server;
pub(crate) use server::Started;
pub use setup::{Made, Opening, Setup};
pub use size::Size;

use self::{round_state::StateSettings, task_store::ChosenStore};
#[cfg(feature = "auth")]
use crate::auth::SharedPolicy;
use crate::{
    call::context::{Context, States},
    call::extract::Shared,
    catalog::{Handle, PageSizes},
    dispatch::{Around, Next, OperationCall, Settings},
    limits::{Limits, Wanted},
    model::{Icon, Outcome},
    schema::SchemaProfile,
};

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Insert = Box<dyn FnOnce(&mut States) + Send>;
type Prepare = Box<dyn FnOnce(Handle) -> BoxFuture<Result<Insert, String>> + Send>;
type Shutdown = Box<dyn FnOnce(Context) -> BoxFuture<()> + Send>;

/// Builder of a server, which [`server!`](crate::server) returns.
pub struct Builder {
    pub(crate) identity: Identity,
    /// Place of `server!` in the user's code.
    place: Place,
    with: Vec<(&'static str, Place)>,
    group: Option<&'static str>,
    items: Option<Items>,
    /// Whether lists are in the order of the source instead of by name.
    as_written: bool,
    states: States,
    /// Types of the state that exists once `setup` has run.
    promised: Vec<PromisedState>,
    setups: Vec<Prepare>,
    shutdowns: Vec<Shutdown>,
    around: Option<(Around, Place)>,
    settings: Settings,
    pages: PageSizes,
    profile: SchemaProfile,
    wanted: Wanted,
    max_blocking: usize,
    limits: Limits,
    state_settings: StateSettings,
    task_store: ChosenStore,
    #[cfg(feature = "http")]
    pub(crate) http: HttpSettings,
    #[cfg(feature = "auth")]
    policies: Vec<(SharedPolicy, Place)>,
    /// Whether a `setup` takes the [`Handle`].
    changes: bool,
    problems: Vec<String>,
}

/// State that `setup` or `state` has promised to handlers.
struct PromisedState {
    id: TypeId,
    name: &'static str,
    place: Place,
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("identity", &self.identity).finish_non_exhaustive()
    }
}

#[doc(hidden)]
#[allow(missing_docs, reason = "public only for generated code")]
#[track_caller]
pub fn builder(identity: Identity) -> Builder {
    Builder {
        identity,
        place: Place::here(),
        with: Vec::new(),
        group: None,
        items: None,
        as_written: false,
        states: States::default(),
        promised: Vec::new(),
        setups: Vec::new(),
        shutdowns: Vec::new(),
        around: None,
        settings: Settings::default(),
        pages: PageSizes::default(),
        profile: SchemaProfile::default(),
        wanted: Wanted::default(),
        max_blocking: 256,
        limits: Limits::new(),
        state_settings: StateSettings::default(),
        task_store: ChosenStore::default(),
        #[cfg(feature = "http")]
        http: HttpSettings::default(),
        #[cfg(feature = "auth")]
        policies: Vec::new(),
        changes: false,
        problems: Vec::new(),
    }
}

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident $(: $wrap:ident)?;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $name: impl Into<String>) -> Self {
            self.identity.$name = texts!(@ $($wrap)? $name.into());
            self
        }
    )*};
    (@ Some $value:expr) => { Some($value) };
    (@ $value:expr) => { $value };
}

impl Builder {
    texts! {
        /// Sets the name of the server. Default: the name of the program.
        name;
        /// Sets the version of the server. Default: the version of the package.
        version;
        /// Sets the title, which clients show to users instead of the name.
        title: Some;
        /// Sets the description of the server. Default: the description of the package.
        description: Some;
        /// Sets the URL of the server's website.
        website: Some;
        /// Sets the instructions, which tell the model how to use the server as a whole, beyond the descriptions of its items.
        instructions: Some;
    }

    /// Adds an icon of the server. Can be called several times.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.identity.icons.push(icon);
        self
    }

    /// Serves the items of these crates too. `server!(with = [my_tools])` adds this call, and keeps the linker from dropping the crate.
    #[must_use]
    #[track_caller]
    pub fn with(mut self, crates: &[&'static str]) -> Self {
        let place = Place::here();
        self.with.extend(crates.iter().map(|it| (*it, place)));
        self
    }

    /// Serves the items of this group, instead of the items without a group.
    #[must_use]
    pub fn group(mut self, group: &'static str) -> Self {
        self.group = Some(group);
        self
    }

    /// Serves exactly these items, in this order: `.items(items![add, Notes::search])`.
    #[must_use]
    pub fn items(mut self, items: Items) -> Self {
        self.items = Some(items);
        self
    }

    /// Lists tools, resources and prompts in the order of the source, by file and line, instead of by name.
    ///
    /// Items with a lower [`order`](crate::prelude::tool#keys) still come first. Items that a [`Handle`] adds come after the items of the
    /// source, by name. With [`items`](Self::items) this has no effect, because that list is an order already.
    ///
    /// ```
    /// let server = mcp_runtime::server!().as_written();
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn as_written(mut self) -> Self {
        self.as_written = true;
        self
    }

    /// Adds shared state for handlers that take `&T` or `State<T>`. Can be called once for each type.
    #[must_use]
    #[track_caller]
    pub fn state<T: Shared>(mut self, state: T) -> Self {
        self.promise::<T>("state");
        self.states.insert(state);
        self
    }

    /// Makes shared state when the server starts. The closure runs once, before the first message is read, and may take the server's
    /// [`Handle`]. Can be called several times, once for each type.
    ///
    /// ```
    /// # struct Db;
    /// # impl Db { async fn open() -> Result<Db, std::io::Error> { Ok(Db) } }
    /// let server = mcp_runtime::server!().setup(async || Db::open().await);
    /// # let _ = server;
    /// ```
    #[must_use]
    #[track_caller]
    pub fn setup<A, F>(mut self, setup: F) -> Self
    where
        F: Setup<A> + Send + 'static,
        F::Future: Opening<Made: Made, Waiting: Send + 'static>,
    {
        self.promise::<<<F::Future as Opening>::Made as Made>::State>("setup");
        self.changes |= F::TAKES_HANDLE;
        self.setups.push(Box::new(move |handle| {
            let made = setup.begin(handle).wait();
            Box::pin(async move {
                let state = made.await.state()?;
                Ok(Box::new(|states: &mut States| states.insert(state)) as Insert)
            })
        }));
        self
    }

    #[track_caller]
    fn promise<T: 'static>(&mut self, method: &str) {
        let state =
            PromisedState { id: TypeId::of::<T>(), name: type_name::<T>(), place: Place::here() };
        if let Some(PromisedState { name, place, .. }) =
            self.promised.iter().find(|it| it.id == state.id)
        {
            let problem = format!(
                "there are two states of type `{name}`, the other at {place}: handlers could not tell them apart"
            );
            self.refuse(method, problem);
        }
        self.promised.push(state);
    }

    /// Records a problem with the user's call of this method. [`build`](Self::build) reports it together with all other problems.
    #[track_caller]
    fn refuse(&mut self, method: &str, problem: impl fmt::Display) {
        self.problems.push(format!("`.{method}(…)` at {}: {problem}", Place::here()));
    }

    /// Adds a closure that runs when the server stops, after the last call has been answered. Several closures run in the order in which
    /// they were added.
    ///
    /// The [`Context`] gives access to the state. The closure runs only if `setup` ran and succeeded. On the command line, `list` and
    /// `schema` never run `setup`. `check` runs `setup` only if it takes the [`Handle`], because it may then add items.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// # struct Db;
    /// # impl Db { async fn open() -> Result<Db> { Ok(Db) } async fn flush(&self) {} }
    /// let server = mcp_runtime::server!().setup(async || Db::open().await).on_shutdown(async |context: Context| {
    ///     if let Some(db) = context.state::<Db>() {
    ///         db.flush().await;
    ///     }
    /// });
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn on_shutdown<F, R>(mut self, shutdown: F) -> Self
    where
        F: FnOnce(Context) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        self.shutdowns.push(Box::new(|context| Box::pin(shutdown(context))));
        self
    }

    /// Sets a closure that runs around every operation (lists, calls, reads, prompts, completions). It can inspect, time or reject an
    /// operation, and runs it with [`Next::run`].
    ///
    /// Can be called only once. `list` and `schema` on the command line run without the closure. Under protocol revision 2026-07-28 a call
    /// that asks its client is several operations, one for each round: see [`Outcome::needs_input`](crate::Outcome::needs_input).
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// let server = mcp_runtime::server!().around(async |call, next| {
    ///     tracing::info!("{}", call.operation().method());
    ///     next.run(call).await
    /// });
    /// # let _ = server;
    /// ```
    #[must_use]
    #[track_caller]
    pub fn around<F, R>(mut self, around: F) -> Self
    where
        F: Fn(OperationCall, Next) -> R + Send + Sync + 'static,
        R: Future<Output = Outcome> + Send + 'static,
    {
        if let Some((_, first)) = &self.around {
            let problem = format!("it was said at {first} already: put both into one");
            self.refuse("around", problem);
        }
        self.around = Some((Around::new(around), Place::here()));
        self
    }

    /// Sets the timeout of calls whose item sets none. Default: no timeout.
    #[must_use]
    #[track_caller]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        if timeout.is_zero() {
            self.refuse(
                "timeout",
                "no call could be answered in no time: leave it out for no limit",
            );
        }
        self.settings.timeout = Some(timeout);
        self
    }

    /// Sets the largest result of a tool, as a number of bytes or as a text such as `"1MB"`. A larger result is replaced with an error that
    /// tells the model so. Default: no limit.
    #[must_use]
    #[track_caller]
    pub fn max_result(mut self, size: impl Size) -> Self {
        match size.in_bytes() {
            Ok(bytes) => self.settings.max_result = Some(bytes),
            Err(problem) => self.refuse("max_result", problem),
        }
        self
    }

    /// Sets how much of JSON Schema the schemas of tools use, including tools that are added while the server runs. Default: the part that
    /// all known clients read. A tool with `schema = "…"` overrides this setting.
    #[must_use]
    pub fn schema_profile(mut self, profile: SchemaProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets how many tools a page holds. Default: 1,000, because several clients read only the first page.
    #[must_use]
    pub fn tools_per_page(mut self, size: usize) -> Self {
        self.pages.tools = size.max(1);
        self
    }

    /// Sets how many resources, templates or prompts a page holds. Default: 100.
    #[must_use]
    pub fn items_per_page(mut self, size: usize) -> Self {
        self.pages.others = size.max(1);
        self
    }

    /// Sets how many `blocking` handlers may run at once. Default: 256. A handler whose call has timed out or was cancelled counts until it
    /// ends.
    #[must_use]
    pub fn max_blocking(mut self, count: usize) -> Self {
        self.max_blocking = count.max(1);
        self
    }

    /// Sets the limits of the server, for one client and for all clients together.
    #[must_use]
    #[track_caller]
    pub fn limits(mut self, limits: Limits) -> Self {
        for name in limits.that_let_nothing_through() {
            self.refuse("limits", format_args!("with `{name}` of 0 nothing would be answered"));
        }
        self.limits = limits;
        self
    }
}
