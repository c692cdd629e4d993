//! The live catalog, and the handle that changes it while the server runs.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use super::{
    bus::{Bus, Event},
    entry::Entry,
    index::{CatalogChange, ItemIndex},
    snapshot::{PageSizes, Snapshot},
    switch::{SharedSwitches, Switch},
};
use crate::{
    call::context::{Context, States, WeakStates},
    call::extract::{FromCall, Requirements, State},
    error::{Error, Result},
    limits::{
        ItemStats, Limit, Pool, RateConfig, RefusalCounters, SharedItemStats, SharedLimits,
        SharedStats, Shares, Stats,
    },
    node::ServerNode,
    schema::SchemaProfile,
    storage::{StoreCounters, StoreError},
};

/// The items of a running server, which all of its connections share.
pub(crate) struct Catalog {
    items: Mutex<ItemIndex>,
    /// Latest snapshot. `None` if the items have changed since it was taken.
    current: RwLock<Option<Arc<Snapshot>>>,
    epoch: AtomicU64,
    /// Schema profile of tools that have no profile of their own.
    profile: SchemaProfile,
    /// Rate and concurrency of items that have none of their own.
    rates: RateConfig,
    /// Limits that this server counts together with others. Empty if it shares no store.
    shared_limits: OnceLock<Arc<SharedLimits>>,
    /// Whether access is restricted even for items without `scopes` and `auth`.
    #[cfg(feature = "auth")]
    guards_all: bool,
    /// Whether a [`Handle`] exists. Without a handle the items cannot change, so the server does not advertise changes.
    is_dynamic: AtomicBool,
    /// Whether a warning about the URI of an update was logged.
    has_complained: AtomicBool,
    pages: PageSizes,
    pub(crate) bus: Bus,
    /// State of the server. The catalog has it so that a [`Handle`] can return it.
    states: RwLock<WeakStates>,
    /// Set if the server has several nodes.
    shared: OnceLock<SharedSwitches>,
    /// Set if several servers share the store. The catalog has the counters so that a [`Handle`] can return them.
    store: OnceLock<Arc<StoreCounters>>,
    /// Counters of rejected requests. The catalog has them so that a [`Handle`] can return them.
    pub(crate) tally: Arc<RefusalCounters>,
    /// Shares of the clients in the limits that apply to all clients together.
    pub(crate) shares: Arc<Shares>,
}

impl Catalog {
    pub(crate) fn new(entries: Vec<Entry>, pages: PageSizes, profile: SchemaProfile) -> Self {
        Self {
            rates: RateConfig::default(),
            shared_limits: OnceLock::new(),
            #[cfg(feature = "auth")]
            guards_all: false,
            items: Mutex::new(ItemIndex::new(entries)),
            current: RwLock::default(),
            epoch: AtomicU64::new(0),
            profile,
            is_dynamic: AtomicBool::new(false),
            has_complained: AtomicBool::new(false),
            pages,
            bus: Bus::default(),
            states: RwLock::default(),
            shared: OnceLock::new(),
            store: OnceLock::new(),
            tally: Arc::default(),
            shares: Arc::default(),
        }
    }

    /// Sets the default rate and concurrency of items added later.
    pub(crate) fn with_rates(self, rates: RateConfig) -> Self {
        Self { rates, ..self }
    }

    /// Lets the current and all later items count their limits together with the other servers that share the store.
    pub(crate) fn share_limits(&self, limits: Arc<SharedLimits>) {
        let items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        items.entries().for_each(|entry| entry.share_gate(&limits));
        let _ = self.shared_limits.set(limits);
    }

    /// Returns the limits that this server counts together with others. Returns `None` if it shares no store.
    pub(crate) fn shared_limits(&self) -> Option<&Arc<SharedLimits>> {
        self.shared_limits.get()
    }

    /// Sets whether items added later have restricted access even without `scopes` and `auth`.
    #[cfg(feature = "auth")]
    pub(crate) fn with_guards(self, guards_all: bool) -> Self {
        Self { guards_all, ..self }
    }

    /// Returns a number that grows with every change of the catalog. A reader that keeps a snapshot compares this number with the
    /// snapshot's epoch, and so avoids the lock.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Returns whether the items may change.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.is_dynamic.load(Ordering::Acquire)
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        if let Some(current) = self.current() {
            return current;
        }
        let items = self.items();
        // Checks again, because another thread may have created the snapshot while this thread waited for the lock.
        self.current().unwrap_or_else(|| {
            let made = Arc::new(Snapshot::new(self.epoch(), &items, self.pages));
            self.set_current(Some(made.clone()));
            made
        })
    }

    fn items(&self) -> MutexGuard<'_, ItemIndex> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self) -> Option<Arc<Snapshot>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the current snapshot and returns the previous one.
    fn set_current(&self, snapshot: Option<Arc<Snapshot>>) -> Option<Arc<Snapshot>> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *current, snapshot)
    }

    /// Changes the items, and notifies clients of the lists that have changed.
    fn change<E>(
        &self,
        change: impl FnOnce(&mut ItemIndex) -> Result<CatalogChange, E>,
    ) -> Result<(), E> {
        let mut items = self.items();
        let change = change(&mut items)?;
        if change.is_empty() {
            return Ok(());
        }
        let outdated = self.set_current(None);
        // The epoch changes after the old snapshot is removed, because a reader that sees the new epoch must not find the old snapshot.
        self.epoch.fetch_add(1, Ordering::AcqRel);
        drop(items);
        for event in change.events() {
            self.bus.publish(&event);
        }
        drop((change, outdated));
        Ok(())
    }

    /// Applies a switch to the items of this node. Returns whether there is an item of this name.
    pub(super) fn apply(&self, name: &str, switch: Switch) -> bool {
        let changed = self.change(|items| match switch {
            Switch::Enabled => items.enable(name, true).ok_or(()),
            Switch::Disabled => items.enable(name, false).ok_or(()),
            Switch::Removed => items.remove(name).ok_or(()),
        });
        changed.is_ok()
    }

    /// Applies a switch to the items of all nodes. Returns whether this node has an item of this name.
    fn switch(&self, name: &str, switch: Switch) -> bool {
        let is_there = self.apply(name, switch);
        if let Some(shared) = self.shared.get() {
            shared.send(name, switch);
        }
        is_there
    }

    pub(super) fn set_shared(&self, shared: SharedSwitches) {
        let _ = self.shared.set(shared);
    }

    /// Returns the number of changes of switches that this node has recorded so far.
    pub(super) fn switch_changes(&self) -> u64 {
        self.shared.get().map_or(0, |shared| shared.known.changes())
    }

    /// Records a switch (enabled, disabled or removed) that was read from the store, so that this node stores it again if the store loses
    /// it. If this node has recorded a switch of the item since [`switch_changes`](Self::switch_changes) returned `changes`, does nothing
    /// and returns `false`.
    pub(super) fn note_switch(&self, name: &str, switch: Switch, changes: u64) -> bool {
        let Some(shared) = self.shared.get() else { return true };
        let is_newest = !shared.known.has_changed_since(name, changes);
        if is_newest {
            shared.known.insert(name, switch);
        }
        is_newest
    }

    fn stats(&self) -> Stats {
        let snapshot = self.snapshot();
        let items = snapshot.all().filter_map(|entry| {
            let [rate, concurrency] = entry.gate.as_ref()?.refused();
            let (kind, name) = (entry.kind_name(), entry.name.to_string());
            Some(ItemStats { kind, name, rate, concurrency })
        });
        let refused = Limit::ALL.iter().map(|limit| (*limit, self.tally.refused(*limit)));
        let calls = self.shares.used(Pool::Calls);
        let store = self.store.get().map(|counters| counters.stats());
        Stats { calls, refused: refused.collect(), items: items.collect(), store }
    }

    async fn shared_stats(&self) -> Result<Option<SharedStats>> {
        let Some(limits) = self.shared_limits() else { return Ok(None) };
        let snapshot = self.snapshot();
        let items = snapshot.all().filter_map(|entry| {
            let count = entry.gate.as_ref()?.count()?;
            Some((SharedItemStats::new(entry.kind_name(), entry.name.to_string()), count))
        });
        let (listing, items) = (ServerNode::listing(), items.collect());
        let stats = SharedStats::read(limits, listing, ServerNode::count_live, items).await;
        stats.map(Some).map_err(StoreError::into_error)
    }

    /// Logs that an update is about a URI that no item of this server has. The URI may be misspelt. Only the first event is a warning,
    /// because resources at other nodes may have such URIs.
    #[cold]
    fn complain_of_uri(&self, uri: &str) {
        if self.has_complained.swap(true, Ordering::Relaxed) {
            tracing::debug!(
                "no resource and no template of this server has the updated URI `{uri}`"
            );
        } else {
            tracing::warn!(
                "no resource and no template of this server has the updated URI `{uri}`: check the text that `Handle::updated` gets"
            );
        }
    }

    /// Sets the state that handles return.
    pub(crate) fn set_states(&self, states: &States) {
        *self.states.write().unwrap_or_else(PoisonError::into_inner) = states.weak();
    }

    /// Sets the counters of the shared store.
    pub(crate) fn set_store_counters(&self, counters: Arc<StoreCounters>) {
        let _ = self.store.set(counters);
    }

    /// Returns whether requests to the shared store have failed for a while, because the store is unavailable or has no space.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has health checks"))]
    pub(crate) fn is_store_away(&self) -> bool {
        self.store.get().is_some_and(|counters| counters.is_away())
    }

    /// Returns a handle. From then on, `is_dynamic` returns `true`.
    pub(crate) fn handle(self: &Arc<Self>) -> Handle {
        self.is_dynamic.store(true, Ordering::Release);
        Handle(self.clone())
    }
}

/// Handle that changes the items of a running server, and notifies the clients.
///
/// A handler takes a `Handle` as a parameter, and so can the closure of [`Builder::setup`](crate::Builder::setup). An application that mounts
/// the server calls `HttpService::handle`. Other code gets a clone of one of these. Clones refer to the same server. Once a handle exists, the
/// server advertises `listChanged`.
///
/// All clients see the same items. A change applies to all sessions, never to a single one.
///
/// **Several nodes.** If servers share a [store](crate::Builder::store), `enable`, `disable`, `remove`, `updated` and `url_completed` apply
/// to all of them, also to those that start later. The others learn of a change within milliseconds. `add` applies to this process alone,
/// because an item contains code.
///
/// Specification: Server features, Tools, Resources and Prompts (list changed notifications).
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Adds a tool that greets.
/// #[tool]
/// fn unlock(server: Handle) -> Result<&'static str> {
///     let greet =
///         Tool::new("greet").description("Says hello").handler(async |_: Context| "hello");
///     server.add(greet)?;
///     Ok("there is a new tool")
/// }
/// # fn main() {}
/// ```
#[derive(Clone)]
pub struct Handle(pub(crate) Arc<Catalog>);

/// Item that [`Handle::add`] accepts: a [`Tool`](super::Tool), [`Resource`](super::Resource) or [`Prompt`](super::Prompt).
///
/// Only these three types implement the trait.
///
/// ```
/// use mcp_runtime::{Item, prelude::*};
///
/// /// Replaces the item with this name.
/// fn replace(server: &Handle, name: &str, item: impl Item) -> Result<()> {
///     server.remove(name);
///     server.add(item)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing that a server can have",
    label = "not a `Tool`, a `Resource` or a `Prompt`",
    note = "write `server.add(Tool::new(\"greet\").handler(async |_: Context| \"hello\"))`; a function with `#[tool]` is there from the start, see `enable` and `disable`"
)]
pub trait Item {
    #[doc(hidden)]
    fn into_entry(self, server_profile: SchemaProfile) -> std::result::Result<EntryBox, String>;
}

/// Wrapper that keeps the type of an entry out of the public trait [`Item`].
#[doc(hidden)]
pub struct EntryBox(pub(crate) Entry);

impl fmt::Debug for EntryBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name)
    }
}

impl Handle {
    /// Adds an item, and notifies the clients that listen for changes.
    ///
    /// # Errors
    /// Fails if an item of this kind with the same name or URI exists already. Also fails if the item is invalid, for example if it has a
    /// bad name or no handler.
    pub fn add(&self, item: impl Item) -> Result<()> {
        let mut entry = item.into_entry(self.0.profile).map_err(Error::msg)?.0;
        entry.default_rates(self.0.rates);
        if let Some(limits) = self.0.shared_limits() {
            entry.share_gate(limits);
        }
        #[cfg(feature = "auth")]
        entry.default_guard(self.0.guards_all);
        let entry = Arc::new(entry);
        self.0.change(|items| items.add(&entry)).map_err(Error::msg)?;
        // An item of this name was removed on all nodes. Without this message, a node that starts later would remove its item of this name.
        if let Some(shared) =
            self.0.shared.get().filter(|shared| shared.known.is_removed(&entry.name))
        {
            shared.send(&entry.name, Switch::Enabled);
        }
        Ok(())
    }

    /// Removes every item with this name, or the resource at this URI. Returns whether there was such an item. Running calls continue.
    pub fn remove(&self, name: &str) -> bool {
        self.0.switch(name, Switch::Removed)
    }

    /// Enables every item with this name, or the resource at this URI. Returns whether there is such an item.
    pub fn enable(&self, name: &str) -> bool {
        self.0.switch(name, Switch::Enabled)
    }

    /// Disables every item with this name, or the resource at this URI. A disabled item is in no list and cannot be called, but can be
    /// enabled again. Returns whether there is such an item.
    ///
    /// Items are enabled by default.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Withdraws the tool `deploy` during maintenance.
    /// fn set_maintenance(server: &Handle, is_on: bool) {
    ///     match is_on {
    ///         true => server.disable("deploy"),
    ///         false => server.enable("deploy"),
    ///     };
    /// }
    /// ```
    pub fn disable(&self, name: &str) -> bool {
        self.0.switch(name, Switch::Disabled)
    }

    /// Notifies subscribed clients that the resource at `uri` has changed (`notifications/resources/updated`).
    ///
    /// `uri` is the URI of one resource, never a template. Clients without a subscription to this URI are not notified. If this server has
    /// no resource and no template with this URI, a warning is logged, at most once; further ones are debug events.
    ///
    /// Specification: Server features, Resources.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Runs after a note was saved.
    /// fn saved(server: &Handle, name: &str) {
    ///     server.updated(format!("notes://{name}"));
    /// }
    /// ```
    pub fn updated(&self, uri: impl AsRef<str>) {
        let (uri, snapshot) = (uri.as_ref(), self.0.snapshot());
        if !snapshot.has_uri(uri) {
            self.0.complain_of_uri(uri);
        }
        let own = snapshot.find_resource(uri).map_or(uri, |entry| entry.key());
        self.0.bus.publish(&Event::ResourceUpdated(own.into()));
    }

    /// Notifies clients that their user has completed the URL-mode elicitation with this URL. A client can then repeat the call by itself.
    ///
    /// `url` is the URL that was passed to [`elicit_url`](Context::elicit_url) or [`require_url`](Context::require_url). Every client that
    /// received this URL is notified, so use a different URL for each user. Under protocol revision 2025-11-25 the server sends
    /// `notifications/elicitation/complete`. Clients of other revisions are not notified, and repeat the call without a notification.
    ///
    /// Specification: Client features, Elicitation.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// State that the pages of a web server share.
    /// #[derive(Clone)]
    /// struct Shop {
    ///     server: Handle,
    /// }
    ///
    /// /// Runs when a user has paid, outside of any call.
    /// async fn paid(shop: Shop, order: u32) -> &'static str {
    ///     shop.server.url_completed(format!("https://pay.example.com/orders/{order}"));
    ///     "Thank you! You can go back now."
    /// }
    /// ```
    ///
    /// A session remembers the last 64 URLs that it has sent to its client. For older URLs, the client is not notified.
    pub fn url_completed(&self, url: impl AsRef<str>) {
        self.0.bus.publish(&Event::UrlCompleted(url.as_ref().into()));
    }

    /// Returns the shared state of type `T`, for code outside of calls, such as a task that runs beside the server.
    ///
    /// Returns `None` if the server has no such state, if the [`setup`](crate::Builder::setup) that creates it has not returned yet, and
    /// after the server has stopped. Closures of `setup` run in the order in which they were added, so a later one finds the state of an
    /// earlier one. A handler takes the state as a parameter instead.
    ///
    /// The handle does not keep the state, but a [`State`] does. A task that calls this method in each round ends with the server:
    ///
    /// ```no_run
    /// use std::{
    ///     sync::atomic::{AtomicU32, Ordering},
    ///     time::Duration,
    /// };
    ///
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Price of a ticket, in cents.
    /// struct Price(AtomicU32);
    ///
    /// impl Price {
    ///     async fn refresh(&self) {
    ///         self.0.store(250, Ordering::Relaxed);
    ///     }
    /// }
    ///
    /// /// Returns the price of a ticket, in cents.
    /// #[tool(read_only)]
    /// fn price(price: &Price) -> u32 {
    ///     price.0.load(Ordering::Relaxed)
    /// }
    ///
    /// fn server() -> mcp_runtime::Builder {
    ///     let server = mcp_runtime::server!().state(Price(AtomicU32::new(200)));
    ///     server.setup(async |server: Handle| {
    ///         tokio::spawn(async move {
    ///             while let Some(price) = server.state::<Price>() {
    ///                 price.refresh().await;
    ///                 drop(price);
    ///                 tokio::time::sleep(Duration::from_secs(60)).await;
    ///             }
    ///         });
    ///         Ok::<_, Error>(())
    ///     })
    /// }
    /// # fn main() {}
    /// ```
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<State<T>> {
        let states = self.0.states.read().unwrap_or_else(PoisonError::into_inner);
        states.share().map(State)
    }

    /// Returns statistics of the server: the number of calls that wait now, the number of rejections by each limit so far, and counts of
    /// the requests to a shared store.
    pub fn stats(&self) -> Stats {
        self.0.stats()
    }

    /// Reads the counts of all servers that share the [store](crate::Builder::store): live servers, sessions, and running calls of items with
    /// a `concurrency`. Returns `None` if this server shares no store. Costs one request to the store.
    ///
    /// [`stats`](Self::stats) has the counts of this server.
    ///
    /// # Errors
    /// Fails if the store is not available.
    pub async fn shared_stats(&self) -> Result<Option<SharedStats>> {
        self.0.shared_stats().await
    }
}

/// State that creates the handles of a running server. It is a type of its own, so that a handle exists only if a handler takes one as a
/// parameter. The server advertises changes only if a handle exists.
pub(crate) struct HandleSource(pub(crate) Arc<Catalog>);

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handle")
    }
}

#[diagnostic::do_not_recommend]
impl FromCall<'_> for Handle {
    fn from_call(context: &Context) -> Result<Self> {
        let source = context.state::<HandleSource>();
        source
            .map(|source| source.0.handle())
            .ok_or_else(|| Error::internal("the server has no handle"))
    }

    fn needs(needs: &mut Requirements) {
        needs.handle = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{call::context::Context, catalog::Tool};

    #[test]
    fn a_new_snapshot_is_made_at_the_first_read_after_a_change() {
        let catalog = Catalog::new(Vec::new(), PageSizes::default(), SchemaProfile::default());
        let handle = Arc::new(catalog).handle();
        let before = handle.0.snapshot();
        for name in ["a", "b"] {
            handle.add(Tool::new(name).handler(async |_: Context| "")).unwrap();
            assert!(handle.0.current().is_none());
        }
        let after = handle.0.snapshot();
        assert_eq!((before.epoch, after.epoch, handle.0.epoch()), (0, 2, 2));
        let count = |snapshot: &Snapshot| snapshot.list(crate::model::ListKind::Tools).len();
        assert_eq!((count(&before), count(&after)), (0, 2));
        // A call that changes nothing keeps the snapshot.
        assert!(handle.enable("a") && !handle.remove("c"));
        assert!(Arc::ptr_eq(&after, &handle.0.snapshot()));
    }
}
