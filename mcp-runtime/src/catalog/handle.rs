use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
};

use super::{Catalog, Entry, Event};
use crate::{
    call::context::Context,
    call::extract::{FromCall, Requirements},
    error::{Error, Result},
    limits::{ItemStats, Limit, Pool, Stats},
    model::ListKind,
};

/// Changes the items of a running server, and notifies its clients. Take it as a parameter, or get it from
/// [`Server::handle`](crate::Server::handle).
///
/// All clients see one catalog: a change applies to all sessions, never to a single one.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Adds a tool that greets.
/// #[tool]
/// fn unlock(server: Handle) -> Result<&'static str> {
///     let greet = Tool::new("greet").description("Says hello").handler(async |_: Context| "hello");
///     server.add(greet)?;
///     Ok("there is a new tool")
/// }
/// # fn main() {}
/// ```
#[derive(Clone)]
pub struct Handle(pub(crate) Arc<Catalog>);

/// An item that can be added: a [`Tool`](super::Tool), [`Resource`](super::Resource) or [`Prompt`](super::Prompt).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing that a server can have",
    label = "not a `Tool`, a `Resource` or a `Prompt`",
    note = "write `server.add(Tool::new(\"greet\").handler(async |_: Context| \"hello\"))`; a function with `#[tool]` is there from the start, see `enable` and `disable`"
)]
pub trait Item {
    #[doc(hidden)]
    fn into_entry(self) -> std::result::Result<EntryBox, String>;
}

/// Keeps the entry's type out of the public trait.
#[doc(hidden)]
pub struct EntryBox(pub(crate) Entry);

impl fmt::Debug for EntryBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name)
    }
}

impl Handle {
    /// Adds an item, and notifies the clients that listen.
    ///
    /// # Errors
    /// Fails if an item of that kind with the same name (or URI) exists already, or the item is invalid: a bad name or URI, no handler.
    pub fn add(&self, item: impl Item) -> Result<()> {
        let mut entry = item.into_entry().map_err(Error::msg)?.0;
        entry.default_profile(self.0.profile);
        entry.default_wanted(self.0.wanted);
        #[cfg(feature = "auth")]
        entry.default_guard(self.0.guards_all);
        let entry = Arc::new(entry);
        self.0.change(|items| items.add(&entry)).map_err(Error::msg)
    }

    /// Removes every item with this name, or the resource at this URI. Returns whether there was one. Running calls go on.
    pub fn remove(&self, name: &str) -> bool {
        self.0.change(|items| items.remove(name).ok_or(())).is_ok()
    }

    /// Enables every item with this name, or the resource at this URI. Returns whether there is one.
    pub fn enable(&self, name: &str) -> bool {
        self.set_enabled(name, true)
    }

    /// Disables every item with this name, or the resource at this URI. A disabled item is in no list and cannot be called, but can be
    /// enabled again. Returns whether there is one.
    pub fn disable(&self, name: &str) -> bool {
        self.set_enabled(name, false)
    }

    /// Notifies the clients that subscribed to this resource that it has changed (`notifications/resources/updated`, server/resources). The
    /// URI is that of one resource, never that of a template. Without a subscription to the URI, no client is notified.
    pub fn updated(&self, uri: impl AsRef<str>) {
        self.0.bus.publish(&Event::ResourceUpdated(uri.as_ref().into()));
    }

    /// Tells clients that their user has finished at the page `url`, so that they repeat the call without asking the user.
    ///
    /// `url` is the URL that [`elicit_url`](Context::elicit_url) or [`require_url`](Context::require_url) was given. Every client that was
    /// sent to this URL is notified, so give each user a page of their own. Under protocol revision 2025-11-25 the server sends
    /// `notifications/elicitation/complete` (page `client/elicitation` of the specification). Clients of other revisions are not notified,
    /// and repeat the call by themselves.
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
    /// A session knows the last 64 pages that its user was sent to.
    pub fn url_completed(&self, url: impl AsRef<str>) {
        self.0.bus.publish(&Event::UrlCompleted(url.as_ref().into()));
    }

    /// Returns the number of calls that are waiting now, and how often each limit has rejected something so far.
    pub fn stats(&self) -> Stats {
        self.0.stats()
    }

    fn set_enabled(&self, name: &str, enabled: bool) -> bool {
        self.0.change(|items| items.enable(name, enabled).ok_or(())).is_ok()
    }
}

/// State that the handles of a running server come from. It is a type of its own, so that a handle exists only if a handler asks for one.
/// The server advertises changes exactly if a handle exists.
pub(crate) struct Origin(pub(crate) Arc<Catalog>);

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handle")
    }
}

#[diagnostic::do_not_recommend]
impl FromCall<'_> for Handle {
    fn from_call(context: &Context) -> Result<Self> {
        let origin = context.state::<Origin>();
        origin.map(|it| it.0.handle()).ok_or_else(|| Error::internal("the server has no handle"))
    }

    fn needs(needs: &mut Requirements) {
        needs.handle = true;
    }
}

impl Catalog {
    fn stats(&self) -> Stats {
        let snapshot = self.snapshot();
        let kinds = [ListKind::Tools, ListKind::Resources, ListKind::Templates, ListKind::Prompts];
        let items = kinds.iter().flat_map(|it| snapshot.list(*it)).filter_map(|it| {
            let [rate, concurrency] = it.gate.as_ref()?.refused();
            Some(ItemStats { kind: it.kind_name(), name: it.name.to_string(), rate, concurrency })
        });
        let refused = Limit::ALL.iter().map(|it| (*it, self.tally.refused(*it)));
        let calls = self.shares.used(Pool::Calls);
        Stats { calls, refused: refused.collect(), items: items.collect() }
    }

    /// Returns a handle. From then on the catalog counts as one that may change.
    pub(crate) fn handle(self: &Arc<Self>) -> Handle {
        self.is_dynamic.store(true, Ordering::Release);
        Handle(self.clone())
    }
}
