//! Settings of a server, except those of HTTP and authorization.

use std::{
    any::{TypeId, type_name},
    fmt,
    future::Future,
    sync::Arc,
    time::Duration,
};

use super::arguments::{CallSite, Items, Made, Opening, Setup, Size};
#[cfg(feature = "auth")]
use crate::authorization::{ProtectedResource, SharedPolicy};
#[cfg(feature = "http")]
use crate::server::HttpSettings;
use crate::{
    ask::StateSettings,
    call::context::{Context, States},
    call::extract::Shared,
    catalog::PageSizes,
    config::GivenValues,
    dispatch::{Around, CallSettings, Next, OperationCall},
    limits::{Limits, RateConfig},
    model::{Icon, Outcome, Rate},
    schema::SchemaProfile,
    server::{Identity, ShutdownHook, StateInsert, StateSetup},
    storage::Store,
};

/// Builder of a server: its items, state and settings. [`server!`](crate::server!) creates it.
///
/// Every setting has a default. The methods that serve check the server first:
///
/// - [`Builder::run`] and [`Builder::serve_stdio`] (feature `stdio`)
/// - [`Builder::serve_http`], [`Builder::bind_http`] and [`Builder::into_service`] (feature `http`), and [`Builder::into_router`] (feature
///   `axum`)
/// - [`Builder::serve`] for other streams
///
/// [`Builder::build`] only checks. A failed check reports all problems together, each with its location in your code.
///
/// ```
/// use std::time::Duration;
///
/// use mcp_runtime::{Builder, prelude::*};
///
/// struct Notes(Vec<String>);
///
/// /// Returns one note.
/// #[tool(read_only)]
/// fn note(notes: &Notes, index: usize) -> Option<String> {
///     notes.0.get(index).cloned()
/// }
///
/// fn server() -> Builder {
///     mcp_runtime::server!()
///         .title("Notes")
///         .state(Notes(vec!["Buy milk".to_owned()]))
///         .timeout(Duration::from_secs(30))
///         .max_result("64KB")
/// }
/// # fn main() {}
/// ```
///
#[cfg_attr(
    not(all(feature = "axum", feature = "stdio")),
    doc = include_str!("../../docs/links.md")
)]
pub struct Builder {
    pub(crate) identity: Identity,
    /// Location of `server!` in the user's code.
    pub(super) place: CallSite,
    pub(super) with: Vec<(&'static str, CallSite)>,
    pub(super) group: Option<&'static str>,
    pub(super) items: Option<Items>,
    /// Whether lists are in source order instead of sorted by name.
    pub(super) as_written: bool,
    pub(super) states: States,
    /// State types that handlers can rely on, because `state` or `setup` provides them.
    pub(super) promised: Vec<PromisedState>,
    pub(super) setups: Vec<StateSetup>,
    /// State that closures of `setup` take.
    pub(super) taken: Vec<TakenState>,
    /// Values of `#[config]` structs that were given on the command line. `None` if the server has none.
    pub(crate) given: Option<GivenValues>,
    pub(super) shutdowns: Vec<ShutdownHook>,
    pub(super) around: Option<(Around, CallSite)>,
    pub(super) settings: CallSettings,
    pub(super) pages: PageSizes,
    pub(super) profile: SchemaProfile,
    pub(super) rates: RateConfig,
    pub(super) max_blocking: usize,
    pub(super) limits: Limits,
    pub(super) state_settings: StateSettings,
    pub(super) store: Option<Arc<dyn Store>>,
    #[cfg(feature = "http")]
    pub(crate) http: HttpSettings,
    #[cfg(feature = "auth")]
    pub(super) policies: Vec<(SharedPolicy, CallSite)>,
    #[cfg(feature = "auth")]
    pub(super) configured_auth: Option<ConfiguredAuth>,
    /// Struct with `#[config]` that the closure of `auth_with` takes.
    #[cfg(feature = "auth")]
    pub(super) auth_config: Option<TypeId>,
    /// Whether a `setup` takes the [`Handle`](crate::Handle), with which it may add items.
    pub(super) setups_may_add_items: bool,
    pub(super) problems: Vec<String>,
}

/// Type of a state that `state` or `setup` provides to handlers.
pub(super) struct PromisedState {
    pub(super) id: TypeId,
    pub(super) name: &'static str,
    pub(super) place: CallSite,
    /// Whether a closure of `setup` creates the state.
    pub(super) is_made_by_setup: bool,
}

/// Type of a state that a closure of `setup` takes.
pub(super) struct TakenState {
    pub(super) id: TypeId,
    pub(super) name: &'static str,
    pub(super) place: CallSite,
    /// Whether the state exists before this `setup` runs.
    pub(super) is_promised: bool,
}

/// Closure of `auth_with`, which waits for the values of the struct that it takes.
#[cfg(feature = "auth")]
pub(super) struct ConfiguredAuth {
    pub(super) config: (TypeId, &'static str),
    pub(super) make: Box<MakeResource>,
    pub(super) place: CallSite,
}

#[cfg(feature = "auth")]
type MakeResource = dyn FnOnce(&States) -> Option<ProtectedResource> + Send;

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
        place: CallSite::here(),
        with: Vec::new(),
        group: None,
        items: None,
        as_written: false,
        states: States::default(),
        promised: Vec::new(),
        setups: Vec::new(),
        taken: Vec::new(),
        given: None,
        shutdowns: Vec::new(),
        around: None,
        settings: CallSettings::default(),
        pages: PageSizes::default(),
        profile: SchemaProfile::default(),
        rates: RateConfig::default(),
        max_blocking: 256,
        limits: Limits::new(),
        state_settings: StateSettings::default(),
        store: None,
        #[cfg(feature = "http")]
        http: HttpSettings::default(),
        #[cfg(feature = "auth")]
        policies: Vec::new(),
        #[cfg(feature = "auth")]
        configured_auth: None,
        #[cfg(feature = "auth")]
        auth_config: None,
        setups_may_add_items: false,
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

/// Settings of every server.
impl Builder {
    texts! {
        /// Sets the name of the server. Default: the name of the program, or of the package if there is no program.
        name;
        /// Sets the version of the server. Default: the version of the package.
        version;
        /// Sets the title, which clients show to users instead of the name. Default: none.
        title: Some;
        /// Sets the description of the server. Default: the description of the package.
        description: Some;
        /// Sets the URL of the server's website. Default: none.
        website: Some;
        /// Sets the instructions, which tell the model how to use the server as a whole, beyond the descriptions of its items. Default:
        /// none.
        instructions: Some;
    }

    /// Adds an icon of the server (2025-11-25 and later). Can be called several times.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.identity.icons.push(icon);
        self
    }

    /// Serves the items of these crates too. Prefer `server!(with = [my_tools])`, which also keeps the linker from dropping the crate.
    #[must_use]
    #[track_caller]
    pub fn with(mut self, crates: &[&'static str]) -> Self {
        let place = CallSite::here();
        self.with.extend(crates.iter().map(|name| (*name, place)));
        self
    }

    /// Serves the items of this group instead of the items without a group.
    #[must_use]
    pub fn group(mut self, group: &'static str) -> Self {
        self.group = Some(group);
        self
    }

    /// Serves only these items, in this order.
    ///
    /// By default a server serves all items of its package that have no group. Use [`with`](Self::with) to add the items of other crates,
    /// and [`group`](Self::group) to choose a group.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let server = mcp_runtime::server!().items(items![add]);
    /// ```
    #[must_use]
    pub fn items(mut self, items: Items) -> Self {
        self.items = Some(items);
        self
    }

    /// Lists tools, resources and prompts in source order, by file and line, instead of by name.
    ///
    /// Items with a lower [`order`](crate::prelude::tool#keys) still come first. Items that a [`Handle`](crate::Handle) adds come after the
    /// items of the source, sorted by name. With [`items`](Self::items) this setting has no effect, because that list has its own order.
    ///
    /// ```
    /// let server = mcp_runtime::server!().as_written();
    /// ```
    #[must_use]
    pub fn as_written(mut self) -> Self {
        self.as_written = true;
        self
    }

    /// Adds shared state for handlers that take `&T` or `State<T>`. Can be called once for each type.
    ///
    /// For state that can fail to open, or that needs `.await`, use [`setup`](Self::setup). [`build`](Self::build) rejects a second state
    /// of the same type.
    ///
    /// ```
    /// use mcp_runtime::{Builder, prelude::*};
    ///
    /// struct Greeting(&'static str);
    ///
    /// /// Greets a person.
    /// #[tool]
    /// fn greet(greeting: &Greeting, name: &str) -> String {
    ///     format!("{}, {name}!", greeting.0)
    /// }
    ///
    /// fn server() -> Builder {
    ///     mcp_runtime::server!().state(Greeting("Hello"))
    /// }
    /// # fn main() {}
    /// ```
    #[must_use]
    #[track_caller]
    pub fn state<T: Shared>(mut self, state: T) -> Self {
        self.promise::<T>("state");
        self.states.insert(state);
        self
    }

    /// Adds an `async` closure that creates shared state when the server starts.
    ///
    /// The closure runs once, before the first message is read. It may take the server's [`Handle`](crate::Handle), and state that exists
    /// already: `State<Config>` of a struct with [`#[config]`](macro@crate::prelude::config), or `State<T>` of an earlier `setup` or
    /// [`state`](Self::state). If the closure fails, the server does not start. Can be called several times, once for each type of state. Closures that return `Ok(())` create no state.
    /// For state that exists already, use [`state`](Self::state).
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// struct Db;
    ///
    /// impl Db {
    ///     async fn open() -> Result<Self> {
    ///         Ok(Self)
    ///     }
    /// }
    ///
    /// let server = mcp_runtime::server!().setup(async || Db::open().await);
    /// ```
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// #[config]
    /// struct Config {
    ///     /// Address of the database
    ///     database_url: String,
    /// }
    ///
    /// struct Pool(String);
    ///
    /// impl Pool {
    ///     async fn connect(url: &str) -> Result<Self> {
    ///         Ok(Self(url.to_owned()))
    ///     }
    /// }
    ///
    /// let server = mcp_runtime::server!()
    ///     .setup(async |config: State<Config>| Pool::connect(&config.database_url).await);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn setup<A, F>(mut self, setup: F) -> Self
    where
        F: Setup<A> + Send + 'static,
        F::Future: Opening<Made: Made, Waiting: Send + 'static>,
    {
        for (id, name) in F::takes() {
            let is_promised = self.promised.iter().any(|promised| promised.id == id);
            self.taken.push(TakenState { id, name, place: CallSite::here(), is_promised });
        }
        self.promise::<<<F::Future as Opening>::Made as Made>::State>("setup");
        self.setups_may_add_items |= F::TAKES_HANDLE;
        self.setups.push(Box::new(move |handle| {
            let made = setup.begin(handle).map(Opening::wait);
            Box::pin(async move {
                let state = made?.await.state()?;
                Ok(Box::new(|states: &mut States| states.insert(state)) as StateInsert)
            })
        }));
        self
    }

    #[track_caller]
    fn promise<T: 'static>(&mut self, method: &str) {
        let state = PromisedState {
            id: TypeId::of::<T>(),
            name: type_name::<T>(),
            place: CallSite::here(),
            is_made_by_setup: method == "setup",
        };
        // A `setup` that makes no state returns `()`, and a server may have several of them.
        let is_unit = state.id == TypeId::of::<()>();
        if let Some(PromisedState { name, place, .. }) =
            self.promised.iter().find(|promised| promised.id == state.id && !is_unit)
        {
            let problem = format!(
                "there are two states of type `{name}`, the other at {place}: handlers could not tell them apart"
            );
            self.refuse(method, problem);
        }
        self.promised.push(state);
    }

    /// Records a problem with the user's call of `method`. [`build`](Self::build) reports it together with all other problems.
    #[track_caller]
    pub(super) fn refuse(&mut self, method: &str, problem: impl fmt::Display) {
        self.refuse_at(method, CallSite::here(), problem);
    }

    /// Records a problem with the call of `method` at this place.
    pub(super) fn refuse_at(&mut self, method: &str, place: CallSite, problem: impl fmt::Display) {
        self.problems.push(format!("`.{method}(…)` at {place}: {problem}"));
    }

    /// Adds a closure that runs when the server stops, after the last call has been answered. Can be called several times. The closures run
    /// in the order in which they were added.
    ///
    /// The [`Context`] gives access to the state. The closure runs only if `setup` ran and succeeded. On the command line, `list` and
    /// `schema` never run `setup`. `check` runs `setup` only if the closure of `setup` takes the [`Handle`](crate::Handle), because such a
    /// closure may add items.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// struct Db;
    ///
    /// impl Db {
    ///     async fn flush(&self) {}
    /// }
    ///
    /// let server = mcp_runtime::server!().state(Db).on_shutdown(async |context: Context| {
    ///     if let Some(db) = context.state::<Db>() {
    ///         db.flush().await;
    ///     }
    /// });
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

    /// Sets a closure that runs around every operation (lists, calls, reads, prompts, completions). The closure can inspect, time or reject
    /// an operation, and runs it with [`Next::run`].
    ///
    /// Can be called only once. `list` and `schema` on the command line run without the closure. Under protocol revision 2026-07-28, a call
    /// that asks its client questions is several operations, one for each round: see
    /// [`Outcome::needs_input`](crate::middleware::Outcome::needs_input).
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// let server = mcp_runtime::server!().around(async |call, next| {
    ///     tracing::info!("{}", call.operation().method());
    ///     next.run(call).await
    /// });
    /// ```
    #[must_use]
    #[track_caller]
    pub fn around<F, R>(mut self, around: F) -> Self
    where
        F: Fn(OperationCall, Next) -> R + Send + Sync + 'static,
        R: Future<Output = Outcome> + Send + 'static,
    {
        if let Some((_, first)) = &self.around {
            let problem = format!("it is already set at {first}: combine both closures into one");
            self.refuse("around", problem);
        }
        self.around = Some((Around::new(around), CallSite::here()));
        self
    }

    /// Sets the timeout of calls whose item sets none. Default: no timeout.
    ///
    /// [`build`](Self::build) rejects a timeout of zero.
    #[must_use]
    #[track_caller]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        if timeout.is_zero() {
            self.refuse(
                "timeout",
                "a timeout of zero fails every call: remove this line for no timeout",
            );
        }
        self.settings.timeout = Some(timeout);
        self
    }

    /// Sets how often one caller may call each tool, resource and prompt that sets no `rate` of its own. Default: no limit.
    ///
    /// The server counts calls by [`Principal`](crate::auth::Principal). Without a principal it counts by session or connection. Over HTTP
    /// without a session it counts by the address that the request came from. All addresses of an IPv6 /64 network count as one.
    ///
    /// Servers that share a [store](Self::store) count the calls of a principal or an address together. Calls of a session or
    /// a connection count at each server separately.
    ///
    /// An axum application provides the address with `into_make_service_with_connect_info::<SocketAddr>()`. If it does not, all such
    /// requests count as one caller. The server reads the address from `X-Forwarded-For` only behind a [trusted proxy](Self::trust_proxy).
    ///
    /// ```
    /// use mcp_runtime::limits::Rate;
    ///
    /// let server = mcp_runtime::server!().rate(Rate::per_second(10));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn rate(mut self, rate: Rate) -> Self {
        self.rates.rate = Some(rate);
        self.check_rates("rate", RateConfig { rate: Some(rate), concurrency: None })
    }

    /// Sets how many calls of each tool, resource and prompt that sets no `concurrency` of its own may run at once, for all callers
    /// together. Default: no limit for a single item. The [`Limits`](crate::limits::Limits) of all items together always apply.
    ///
    /// Servers that share a [store](Self::store) count these calls together. If a server is killed, its calls count for at most 30 seconds
    /// more.
    #[must_use]
    #[track_caller]
    pub fn concurrency(mut self, calls: u32) -> Self {
        self.rates.concurrency = Some(calls);
        self.check_rates("concurrency", RateConfig { rate: None, concurrency: Some(calls) })
    }

    #[track_caller]
    fn check_rates(mut self, method: &str, rates: RateConfig) -> Self {
        if let Some(problem) = rates.problem() {
            self.refuse(method, problem);
        }
        self
    }

    /// Sets the maximum size of a tool's result, as a number of bytes or as a text such as `"64KB"` or `"1MB"`. Default: no limit.
    ///
    /// An error replaces a larger result, and tells the model that the result was too large. As in attributes, `KB` is 1,000 bytes, and
    /// `KiB` is 1,024 bytes.
    #[must_use]
    #[track_caller]
    pub fn max_result(mut self, size: impl Size) -> Self {
        match size.in_bytes() {
            Ok(bytes) => self.settings.max_result = Some(bytes),
            Err(problem) => self.refuse("max_result", problem),
        }
        self
    }

    /// Sets which part of JSON Schema the schemas of tools use. Default: [`SchemaProfile::Compatible`], the part that all known clients
    /// read.
    ///
    /// The setting also applies to tools that are added while the server runs. A tool with `schema = "…"` overrides it.
    #[must_use]
    pub fn schema_profile(mut self, profile: SchemaProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets the maximum number of tools on a page of their list. Default: 1,000, because several clients read only the first page. 0 counts
    /// as 1.
    #[must_use]
    pub fn tools_per_page(mut self, size: usize) -> Self {
        self.pages.tools = size.max(1);
        self
    }

    /// Sets the maximum number of resources, templates or prompts on a page of their lists. Default: 100. 0 counts as 1.
    #[must_use]
    pub fn items_per_page(mut self, size: usize) -> Self {
        self.pages.others = size.max(1);
        self
    }

    /// Sets how many `blocking` handlers may run at once. Default: 256. 0 counts as 1.
    ///
    /// A handler whose call has timed out or was cancelled still counts until the handler ends.
    #[must_use]
    pub fn max_blocking(mut self, count: usize) -> Self {
        self.max_blocking = count.max(1);
        self
    }

    /// Sets the limits of the server, for each client and for all clients together. Default: [`Limits::new`].
    ///
    /// [`build`](Self::build) fails if a limit is zero and the server could therefore not answer any request.
    #[must_use]
    #[track_caller]
    pub fn limits(mut self, limits: Limits) -> Self {
        for name in limits.that_let_nothing_through() {
            self.refuse(
                "limits",
                format_args!("with `{name}` set to 0, nothing would be answered"),
            );
        }
        self.limits = limits;
        self
    }

    /// Seals the state of a call between two rounds with this key, and sends the sealed state to the client (`requestState`, protocol
    /// revision 2026-07-28). By default the state stays in the process, unless servers share a [store](Self::store). Handlers see no
    /// difference.
    ///
    /// Servers that share a [store](Self::store) do not need this method. They create a key, keep it in the store, and replace it every
    /// day. With a key of your own, the state stays secret even from a person who can read the store.
    ///
    /// Set the same key in all instances of a server that share an address. Each instance can then continue calls that another instance has
    /// begun, and calls survive a restart. The key must be random and secret: a client that knows it could forge state. The command
    /// `head -c 32 /dev/urandom > state-key` writes such a key to a file.
    ///
    /// Call the method several times to rotate keys. The first key seals new state, and every key opens existing state. Put the new key
    /// first, and keep the old key for as long as [state may be used](Builder::state_lifetime).
    ///
    /// ```no_run
    /// use mcp_runtime::prelude::*;
    ///
    /// fn state_key() -> Result<[u8; 32]> {
    ///     let key = std::fs::read("/run/secrets/state-key")?;
    ///     key.try_into().map_err(|_| Error::msg("the state key must have 32 bytes"))
    /// }
    ///
    /// # #[cfg(feature = "stdio")]
    /// fn main() -> Result<Exit> {
    ///     Ok(server!().state_key(state_key()?).run())
    /// }
    /// # #[cfg(not(feature = "stdio"))]
    /// # fn main() {}
    /// ```
    #[cfg(feature = "state-key")]
    #[must_use]
    pub fn state_key(mut self, key: [u8; 32]) -> Self {
        self.state_settings.keys.push(key);
        self
    }

    /// Sets how long a user may take to answer a question under protocol revision 2026-07-28. Default: 15 minutes.
    ///
    /// In this revision a question ends the request, and the client sends the answer with a new request. If the answer comes too late, the
    /// client has to begin the call again. For earlier revisions, see [`Limits::question_time`].
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let server = mcp_runtime::server!().state_lifetime(Duration::from_secs(60 * 60));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn state_lifetime(mut self, lifetime: Duration) -> Self {
        if lifetime.is_zero() {
            self.refuse(
                "state_lifetime",
                "the lifetime is zero, so no user could answer in time: set a longer one",
            );
        }
        self.state_settings.lifetime = lifetime;
        self
    }

    /// Sets the store, which keeps tasks and logins. Default: a [`MemoryStore`](crate::store::MemoryStore), which loses them when the process ends.
    ///
    /// A crate may offer a store for an environment variable ([`offer_store!`](crate::store::offer_store)), as `mcp-runtime-redis` does for
    /// `MCP_REDIS_URL`. Such a store replaces the default, and a store that this method sets wins.
    ///
    /// With a store that outlasts the process, such as `SqliteStore` (feature `sqlite`), a finished task is still there after a restart. A
    /// task that was running ends with an error that says why. If its tool is `idempotent`, the task runs again instead.
    ///
    /// A task runs again for the caller who began it, if the tool's `scopes` and policies still accept that caller. The task has the scopes
    /// that the caller's token granted. It also has the claims if they are JSON, such as those of `Jwt`. A handler that takes claims of a
    /// different type fails, with an error that asks the client to call the tool again.
    ///
    /// The store keeps scopes and claims as long as the task runs. It never keeps the access token or a token of another provider.
    ///
    /// Servers share a store if [`Store::is_shared`] returns `true`, as it does for the store of the crate `mcp-runtime-redis`. Such
    /// servers count the [`rate`](Self::rate) and the [`concurrency`](Self::concurrency) of items together. Under protocol revision
    /// 2026-07-28, each server continues calls that another server has begun, and the state of a `single_use` item is accepted once by all
    /// servers together. While the store is unavailable, they refuse calls of items with a `rate` or a `concurrency`, and repeated calls
    /// of `single_use` items. Servers without the feature `state-key` cannot share a store if their items ask questions.
    ///
    /// ```
    /// use mcp_runtime::store::MemoryStore;
    ///
    /// let server = mcp_runtime::server!().store(MemoryStore::new().bytes(10 << 20));
    /// ```
    #[must_use]
    pub fn store(mut self, store: impl Store) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Whether the author or the environment has set a store. A wrong variable of the environment counts too, and is reported at the start.
    #[cfg(all(feature = "auth", feature = "workbench"))]
    pub(crate) fn has_store(&self) -> bool {
        let offered = || crate::storage::offered_store(&self.identity.name);
        self.store.is_some() || !matches!(offered(), Ok(None))
    }
}
