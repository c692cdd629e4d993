//! Start and stop of a server that has passed its checks.

#[cfg(feature = "auth")]
use core::net::IpAddr;
use std::{fmt, sync::Arc};

use futures_core::future::BoxFuture;

#[cfg(feature = "auth")]
use super::HttpSettings;
use super::Identity;
use crate::{
    ask::{RoundStates, StateSettings},
    call::context::{Caller, Context, Environment, States},
    catalog::{self, Catalog, Handle, HandleSource},
    config::DeclaredConfig,
    dispatch::{Around, CallSettings, Dispatcher, ItemRights},
    error::{BuildError, ServeError},
    limits::{Limits, SharedLimits},
    node::ServerNode,
    storage::{self, MeasuredStore, MemoryStore, Store, StoreError},
    task::{self, QuestionWriter, Tasks},
};

/// Closure that inserts the state which a `setup` has created.
pub(crate) type StateInsert = Box<dyn FnOnce(&mut States) + Send>;

/// Closure passed to `Builder::setup`. Its error is the message of the error that the author's closure returned.
pub(crate) type StateSetup =
    Box<dyn FnOnce(Handle) -> BoxFuture<'static, Result<StateInsert, String>> + Send>;

/// Closure passed to `Builder::on_shutdown`.
pub(crate) type ShutdownHook = Box<dyn FnOnce(Context) -> BoxFuture<'static, ()> + Send>;

/// Server that has passed its checks and has not started.
///
/// [`Builder::build`](crate::Builder::build) returns it as the proof that a server can start. It has no methods: to serve, call a method of
/// the builder instead, such as [`Builder::serve`](crate::Builder::serve). For a [`Handle`] that changes the items of a running server, pass a
/// closure to [`Builder::setup`](crate::Builder::setup).
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
/// let server = mcp_runtime::server!().items(items![add]).build();
/// assert!(server.is_ok());
/// ```
pub struct Server {
    pub(crate) identity: Arc<Identity>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) states: States,
    pub(crate) setups: Vec<StateSetup>,
    /// Structs with `#[config]` that the server reads when it starts.
    pub(crate) config: DeclaredConfig,
    /// Whether a `setup` takes the handle, with which it may add items.
    #[cfg_attr(not(feature = "stdio"), allow(dead_code, reason = "for the command line"))]
    pub(crate) setups_may_add_items: bool,
    /// Problem of a server without items, unless `setup` adds some.
    pub(crate) nothing_to_serve: Option<String>,
    pub(crate) shutdowns: Vec<ShutdownHook>,
    pub(crate) around: Option<Around>,
    pub(crate) settings: CallSettings,
    pub(crate) rights: ItemRights,
    /// Error message for a server that restricts access, but has no verifier that identifies callers. Such a server can be served over HTTP
    /// only inside of an application, which may identify them. `None` for every other server.
    #[cfg(feature = "auth")]
    pub(crate) unverified: Option<String>,
    pub(crate) max_blocking: usize,
    pub(crate) limits: Limits,
    pub(crate) state_settings: StateSettings,
    /// Store that the author has set. Once [`open_store`](Self::open_store) has run, it may also be the store that the environment has set.
    pub(crate) store: Option<Arc<dyn Store>>,
    pub(crate) is_store_open: bool,
    /// Function that writes the questions of tasks for other nodes.
    pub(crate) write_question: QuestionWriter,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("identity", &self.identity).finish_non_exhaustive()
    }
}

/// Server that has started. Its `setup` has run, unless `start_bare` started the server.
pub(crate) struct Started {
    pub(crate) identity: Arc<Identity>,
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) limits: Limits,
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) round_states: Arc<RoundStates>,
    pub(crate) shutdowns: Vec<ShutdownHook>,
    /// This process among the nodes that share the store. `None` if the store is not shared.
    pub(crate) node: Option<Arc<ServerNode>>,
}

impl Server {
    /// Returns a handle that changes the catalog while the server runs. Once a handle exists, the server advertises `listChanged` to
    /// clients.
    #[cfg(test)]
    pub(crate) fn handle(&self) -> Handle {
        self.catalog.handle()
    }

    /// Prepares the authorization server in this program, if there is one. `bound` is the address that the server listens on, if it is known.
    ///
    /// # Errors
    /// Fails if the store cannot be opened, or has records that cannot be read.
    #[cfg(feature = "auth")]
    pub(crate) async fn open_authorization(
        &mut self,
        settings: &HttpSettings,
        bound: Option<IpAddr>,
    ) -> Result<(), ServeError> {
        let Some(protected) = &settings.protected else { return Ok(()) };
        self.open_store().await?;
        let name = self.identity.title.as_ref().unwrap_or(&self.identity.name);
        let tally = &self.catalog.tally;
        let opened = protected.open(name, &settings.path, bound, tally, self.store.as_ref()).await;
        opened.map_err(ServeError::Auth)
    }

    /// Opens the store that the author or the environment has set, unless it is open already. Requests to a shared store are counted from then on.
    pub(crate) async fn open_store(&mut self) -> Result<(), ServeError> {
        if self.is_store_open {
            return Ok(());
        }
        self.is_store_open = true;
        if let Some(store) = self.store.take() {
            store.open().await.map_err(|why| ServeError::Store(why.to_string()))?;
            self.store = Some(self.share(store)?);
        } else if let Some((variable, store)) = storage::offered_store(&self.identity.name)
            .map_err(|why| ServeError::Store(why.to_string()))?
        {
            let opened = store.open().await;
            opened.map_err(|why| ServeError::Store(format!("{variable}: {why}")))?;
            tracing::info!("the server uses the store of `{variable}`");
            self.store = Some(self.share(store)?);
        }
        Ok(())
    }

    /// Prepares the server for a store that it may share with others: the store counts its requests, and the limits of items are counted
    /// in the store.
    fn share(&self, store: Arc<dyn Store>) -> Result<Arc<dyn Store>, ServeError> {
        if !store.is_shared() {
            return Ok(store);
        }
        let store = MeasuredStore::new(store);
        self.catalog.set_store_counters(store.counters().clone());
        let store: Arc<dyn Store> = Arc::new(store);
        let limits = SharedLimits::new(store.clone());
        let limits = limits.map_err(|why| ServeError::Store(why.to_string()))?;
        self.catalog.share_limits(limits);
        Ok(store)
    }

    pub(crate) fn start(mut self) -> BoxFuture<'static, Result<Started, ServeError>> {
        // Boxed, so that the compiler does not repeat the code in each caller.
        Box::pin(async move {
            self.read_config().map_err(ServeError::Config)?;
            self.open_store().await?;
            let node = join(self.store.clone()).await?;
            self.set_up().await.map_err(ServeError::Setup)?;
            self.check_items()?;
            let write_question = self.write_question;
            let mut started = self.started();
            let unusable = |why: StoreError| ServeError::Store(why.to_string());
            started.round_states.open().await.map_err(unusable)?;
            if let Some(node) = node {
                started.receive(node, write_question).await.map_err(unusable)?;
            }
            let recovered = task::recover(&started.tasks, &started.dispatcher).await;
            recovered.map_err(|why| ServeError::Store(format!("the store: {why}")))?;
            Ok(started)
        })
    }

    /// Starts the server without running `setup`. Such a server can only list its items. The closures of `around` and `on_shutdown` may
    /// rely on the state that `setup` creates, so they are dropped too.
    #[cfg(feature = "stdio")]
    pub(crate) fn start_bare(mut self) -> Started {
        self.around = None;
        self.shutdowns.clear();
        self.started()
    }

    /// Starts the server to inspect all of its items. `setup` runs only if it may add items. If a `setup` fails, the remaining ones are
    /// skipped, and the error is returned together with the server.
    ///
    /// # Errors
    /// Fails if every `setup` succeeded, and the server still has no item.
    #[cfg(feature = "stdio")]
    pub(crate) async fn start_to_inspect(
        mut self,
    ) -> Result<(Started, Option<String>), BuildError> {
        if !self.setups_may_add_items {
            return Ok((self.start_bare(), None));
        }
        let set_up = match self.read_config() {
            Ok(()) => self.set_up().await,
            Err(problem) => Err(problem),
        };
        match set_up {
            Ok(()) => {
                self.check_items()?;
                Ok((self.started(), None))
            }
            Err(problem) => Ok((self.start_bare(), Some(problem))),
        }
    }

    /// Fails if neither the program nor `setup` has given the server an item.
    fn check_items(&mut self) -> Result<(), BuildError> {
        match self.nothing_to_serve.take() {
            Some(problem) if self.catalog.snapshot().offers.is_empty() => {
                Err(BuildError { problems: vec![problem] })
            }
            _ => Ok(()),
        }
    }

    fn read_config(&mut self) -> Result<(), String> {
        std::mem::take(&mut self.config).read(&mut self.states)
    }

    /// Runs the closures of `setup`, each with a handle that knows the state of the preceding ones.
    async fn set_up(&mut self) -> Result<(), String> {
        self.catalog.set_states(&self.states);
        for setup in std::mem::take(&mut self.setups) {
            let insert = setup(Handle(self.catalog.clone())).await?;
            insert(&mut self.states);
            self.catalog.set_states(&self.states);
        }
        Ok(())
    }

    fn started(mut self) -> Started {
        self.states.insert(HandleSource(self.catalog.clone()));
        let environment = Arc::new(Environment::new(self.states, self.max_blocking));
        let tally = self.catalog.tally.clone();
        let round_states =
            RoundStates::new(self.state_settings, &self.limits, tally, self.store.as_ref());
        let store = self.store.unwrap_or_else(|| Arc::new(MemoryStore::new()));
        let tasks = Tasks::new(store, self.catalog.clone(), self.limits);
        let dispatcher = Dispatcher {
            catalog: self.catalog,
            environment,
            around: self.around,
            settings: self.settings,
            rights: self.rights,
        };
        Started {
            identity: self.identity,
            dispatcher: Arc::new(dispatcher),
            limits: self.limits,
            tasks: Arc::new(tasks),
            round_states: Arc::new(round_states),
            shutdowns: self.shutdowns,
            node: None,
        }
    }
}

/// Joins the nodes that share the store, if it is shared.
async fn join(store: Option<Arc<dyn Store>>) -> Result<Option<Arc<ServerNode>>, ServeError> {
    let Some(store) = store.filter(Store::is_shared) else { return Ok(None) };
    let node = ServerNode::join(store).await;
    node.map(|node| Some(Arc::new(node))).map_err(|why| ServeError::Store(why.to_string()))
}

impl Started {
    /// Connects the server with the other nodes.
    async fn receive(
        &mut self,
        node: Arc<ServerNode>,
        write_question: QuestionWriter,
    ) -> Result<(), StoreError> {
        let catalog = &self.dispatcher.catalog;
        catalog::share(catalog, &node);
        task::share(&self.tasks, &self.dispatcher, &node, write_question);
        let is_unavailable = StoreError::is_unavailable;
        storage::try_while_unavailable(is_unavailable, || node.receive()).await?;
        let restore = || catalog::restore_switches(catalog, &node);
        storage::try_while_unavailable(is_unavailable, restore).await?;
        self.node = Some(node);
        Ok(())
    }

    pub(crate) async fn stop(self) {
        if let Some(limits) = self.dispatcher.catalog.shared_limits() {
            limits.settle().await;
        }
        for shutdown in self.shutdowns {
            shutdown(Context::new(self.dispatcher.environment.clone(), Caller::default(), None))
                .await;
        }
        // An application may keep a service that has stopped. Tasks that ask a handle for the state end all the same.
        self.dispatcher.catalog.set_states(&States::default());
        self.tasks.hand_over();
        if let Some(node) = self.node {
            node.leave().await;
        }
    }
}
