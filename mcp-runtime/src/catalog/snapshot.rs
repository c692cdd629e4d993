//! Snapshot of the catalog at one moment, which readers share without a lock.

use std::{
    any::TypeId,
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    cursor::ListCursor,
    entry::{Entry, EntryKind, PromptArgument},
    index::{ByKey, ItemIndex, sort_key},
};
use crate::{
    error::{Error, ErrorKind},
    item::uri::{resource_key, subscription_key},
    model::{ListKind, ListPage},
};

/// Maximum numbers of items on one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageSizes {
    /// Maximum for tools. It is large, because several clients read only the first page.
    pub(crate) tools: usize,
    pub(crate) others: usize,
}

impl Default for PageSizes {
    fn default() -> Self {
        Self { tools: 1000, others: 100 }
    }
}

/// Features that the server offers. Disabled items count too, so that disabling an item does not withdraw a feature.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offers {
    pub(crate) tools: bool,
    pub(crate) resources: bool,
    pub(crate) prompts: bool,
    /// Whether an argument can be completed.
    pub(crate) completions: bool,
    /// Whether a resource can be subscribed to.
    pub(crate) subscriptions: bool,
    /// Whether calls of a tool may continue as tasks.
    pub(crate) tasks: bool,
}

impl Offers {
    /// Returns whether the server has no item, not even a disabled one.
    pub(crate) fn is_empty(self) -> bool {
        !(self.tools || self.resources || self.prompts)
    }

    fn add(&mut self, entry: &Entry) {
        match &entry.kind {
            EntryKind::Tool(tool) => {
                self.tools = true;
                self.tasks |= tool.task.is_some();
            }
            EntryKind::Resource(resource) => {
                self.resources = true;
                self.subscriptions |= resource.subscribe;
            }
            EntryKind::Prompt(_) => self.prompts = true,
            EntryKind::Completion { .. } => {}
        }
        // `can_complete` computes all values of a type. Therefore it is not called again once an argument with completions has been found.
        self.completions =
            self.completions || entry.arguments().iter().any(PromptArgument::can_complete);
    }
}

/// The catalog at one moment, sorted and indexed. Creating a snapshot takes linear time in the number of items.
pub(crate) struct Snapshot {
    pub(crate) epoch: u64,
    pub(crate) pages: PageSizes,
    lists: [Vec<Arc<Entry>>; 4],
    /// Tools and prompts by name, resources by URI. A fast hash is safe. Clients choose the keys that are looked up, but never the keys in
    /// the index, so they cannot cause collisions.
    index: [FxHashSet<ByKey>; 4],
    /// Resources whose URI is not its own [`resource_key`], by this key.
    respelled: FxHashMap<Box<str>, Arc<Entry>>,
    completions: Arc<FxHashMap<TypeId, Arc<Entry>>>,
    pub(crate) offers: Offers,
    /// Disabled tools that have restricted access and support tasks. `guarded_with_tasks` includes them, because their tasks may still
    /// exist.
    hidden: Vec<Arc<Entry>>,
    /// Whether some callers see only a part of a list, for each [`ListKind`]. `is_guarded` is set if this is true for any list.
    guarded: [bool; 4],
    pub(crate) is_guarded: bool,
    /// First pages of the lists as bytes. The module `protocol` renders them and assigns the slot numbers.
    pub(crate) rendered: [OnceLock<Box<[u8]>>; Snapshot::SLOTS],
}

impl Snapshot {
    /// Number of slots. Each list has two slots in each revision: one for a first page that all clients share, and one for a first page of
    /// a single client.
    pub(crate) const SLOTS: usize = 40;

    pub(super) fn new(epoch: u64, items: &ItemIndex, pages: PageSizes) -> Self {
        let mut lists: [Vec<Arc<Entry>>; 4] = Default::default();
        let mut offers = Offers::default();
        let (mut guarded, mut hidden) = ([false; 4], Vec::new());
        for (list, entry, enabled) in items.iter() {
            offers.add(entry);
            if enabled {
                lists[list as usize].push(entry.clone());
                guarded[list as usize] |= entry.is_guarded();
            } else if entry.is_guarded() && entry.task().is_some() {
                hidden.push(entry.clone());
            }
        }
        let index = std::array::from_fn(|list| lists[list].iter().cloned().map(ByKey).collect());
        let respelled = lists[ListKind::Resources as usize].iter().filter_map(|entry| {
            let Cow::Owned(key) = resource_key(entry.key()) else { return None };
            Some((key.into(), entry.clone()))
        });
        let respelled = respelled.collect();
        Self {
            epoch,
            pages,
            offers,
            is_guarded: guarded.contains(&true),
            guarded,
            hidden,
            lists,
            index,
            respelled,
            completions: items.completions().clone(),
            rendered: std::array::from_fn(|_| OnceLock::new()),
        }
    }

    pub(crate) fn list(&self, kind: ListKind) -> &[Arc<Entry>] {
        &self.lists[kind as usize]
    }

    /// Returns the items of all lists.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.lists.iter().flatten()
    }

    /// Finds a tool or prompt by name, a resource or template by URI.
    pub(crate) fn find(&self, kind: ListKind, key: &str) -> Option<&Arc<Entry>> {
        self.index[kind as usize].get(key).map(|ByKey(entry)| entry)
    }

    /// Finds a resource that has no variables, by its URI or by an equivalent spelling of the URI.
    pub(crate) fn find_resource(&self, uri: &str) -> Option<&Arc<Entry>> {
        self.find(ListKind::Resources, uri).or_else(|| match resource_key(uri) {
            Cow::Borrowed(_) if self.respelled.is_empty() => None,
            key => self.find(ListKind::Resources, &key).or_else(|| self.respelled.get(&*key)),
        })
    }

    /// Returns the key under which subscriptions and updates of a URI meet. All spellings of a resource that has no variables have the key of
    /// the URI that its author has written.
    pub(crate) fn subscription_key(&self, uri: &str) -> String {
        subscription_key(self.find_resource(uri).map_or(uri, |entry| entry.key()))
    }

    /// Returns whether a resource or a template of this server has this URI.
    pub(crate) fn has_uri(&self, uri: &str) -> bool {
        let matches = |entry: &Arc<Entry>| {
            let template = entry.resource().and_then(|resource| resource.template.as_ref());
            template.is_some_and(|template| template.matches(uri).is_some())
        };
        self.find_resource(uri).is_some() || self.list(ListKind::Templates).iter().any(matches)
    }

    /// Finds the `#[completion]` function with this identity.
    pub(crate) fn completion(&self, identity: TypeId) -> Option<&Arc<Entry>> {
        self.completions.get(&identity)
    }

    /// Returns whether some callers see only a part of this list.
    pub(crate) fn guards(&self, kind: ListKind) -> bool {
        self.guarded[kind as usize]
    }

    /// Returns the tools that support tasks and have restricted access, including disabled tools.
    pub(crate) fn guarded_with_tasks(&self) -> impl Iterator<Item = &Arc<Entry>> {
        let all = if self.guards(ListKind::Tools) { self.list(ListKind::Tools) } else { &[] };
        let listed = all.iter().filter(|entry| entry.is_guarded() && entry.task().is_some());
        listed.chain(&self.hidden)
    }

    /// Returns the page of a cursor: the items after the item that the cursor names, even if that item no longer exists.
    pub(crate) fn page(&self, kind: ListKind, cursor: Option<&str>) -> Result<ListPage, Error> {
        let (from, len) = (self.after(kind, cursor)?, self.list(kind).len());
        let to = len.min(from + self.page_size(kind));
        Ok(ListPage { kind, from, to, is_last: to == len, shown: None })
    }

    /// Returns the page of a cursor for a caller that sees only some items of the list.
    pub(crate) fn page_of(
        &self,
        kind: ListKind,
        cursor: Option<&str>,
        sees: impl Fn(&Entry) -> bool,
    ) -> Result<ListPage, Error> {
        let (from, list) = (self.after(kind, cursor)?, self.list(kind));
        let mut seen = (from..list.len()).filter(|at| sees(&list[*at]));
        let shown: Vec<usize> = seen.by_ref().take(self.page_size(kind)).collect();
        let to = shown.last().map_or(from, |last| last + 1);
        Ok(ListPage { kind, from, to, is_last: seen.next().is_none(), shown: Some(shown) })
    }

    fn page_size(&self, kind: ListKind) -> usize {
        let size = if kind == ListKind::Tools { self.pages.tools } else { self.pages.others };
        size.max(1)
    }

    /// Returns the index in a list at which the page of a cursor begins.
    fn after(&self, kind: ListKind, cursor: Option<&str>) -> Result<usize, Error> {
        let Some(text) = cursor else { return Ok(0) };
        let last = ListCursor::decode(kind, text).ok_or_else(|| {
            let text = "the cursor is not one this server gave for this list";
            Error::of(ErrorKind::InvalidParams, text)
        })?;
        let (name, key) = last.name.split_once('\0').unwrap_or((&last.name, ""));
        Ok(self.list(kind).partition_point(|entry| sort_key(entry) <= (last.order, name, key)))
    }

    pub(crate) fn entries(&self, page: &ListPage) -> impl Iterator<Item = &Arc<Entry>> {
        let list = self.list(page.kind);
        let all = if page.shown.is_none() { page.from..page.to } else { 0..0 };
        let some = page.shown.iter().flatten().map(|at| &list[*at]);
        list[all].iter().chain(some)
    }

    pub(crate) fn next_cursor(&self, page: &ListPage) -> Option<String> {
        let list = self.list(page.kind);
        let last = list.get(page.to.checked_sub(1)?).filter(|_| !page.is_last)?;
        let (order, name, key) = sort_key(last);
        Some(ListCursor { order, name: format!("{name}\0{key}") }.encode(page.kind))
    }
}
