//! Index of all items that a server has.

use std::{
    any::TypeId,
    borrow::Borrow,
    cmp::Ordering,
    collections::BTreeMap,
    hash::{Hash, Hasher},
    sync::Arc,
};

use mcp_runtime_contract::collect::collect_by_insert;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    bus::Event,
    entry::{Entry, EntryKind},
};
use crate::model::ListKind;

/// All items, including disabled ones. The cost of a change grows only logarithmically with the number of items.
#[derive(Default)]
pub(super) struct ItemIndex {
    /// Items in the order of the lists. The value is `true` if the item is enabled.
    sorted: BTreeMap<Sorted, bool>,
    by_key: [FxHashSet<ByKey>; 4],
    /// Resources and templates by name. Their keys are their URIs, so several of them may share a name.
    by_name: FxHashMap<String, Vec<Arc<Entry>>>,
    /// Completion functions by identity. They are in no list, and cannot be added or removed.
    completions: Arc<FxHashMap<TypeId, Arc<Entry>>>,
}

/// Result of a change: the lists that have changed, and the items that were removed.
#[derive(Default)]
pub(super) struct CatalogChange {
    lists: [bool; 4],
    /// Removed items. The caller drops them after it has released all locks, because dropping an item drops the values that its handler has
    /// captured, and their `Drop` may change the catalog.
    pub(super) removed: Vec<Arc<Entry>>,
}

impl CatalogChange {
    /// Returns whether the change had no effect.
    pub(super) fn is_empty(&self) -> bool {
        self.removed.is_empty() && !self.lists.contains(&true)
    }

    /// Returns the events that clients must be notified of.
    pub(super) fn events(&self) -> impl Iterator<Item = Event> {
        let [tools, resources, templates, prompts] = self.lists;
        let events = [
            tools.then_some(Event::ToolsChanged),
            (resources || templates).then_some(Event::ResourcesChanged),
            prompts.then_some(Event::PromptsChanged),
        ];
        events.into_iter().flatten()
    }
}

impl ItemIndex {
    /// Returns all entries, also those of disabled items and of completion functions.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.sorted.keys().map(|item| &item.1).chain(self.completions.values())
    }

    pub(super) fn new(entries: Vec<Entry>) -> Self {
        let mut items = Self::default();
        let mut completions = FxHashMap::default();
        let mut sorted = Vec::with_capacity(entries.len());
        for entry in entries.into_iter().map(Arc::new) {
            match (list_of(&entry), entry.identity) {
                (Some(list), _) => {
                    items.index(list, &entry);
                    sorted.push((Sorted(list, entry), true));
                }
                (None, Some(identity)) => {
                    completions.insert(identity, entry);
                }
                (None, None) => {}
            }
        }
        items.sorted = collect_by_insert(sorted);
        items.completions = Arc::new(completions);
        items
    }

    fn index(&mut self, list: ListKind, entry: &Arc<Entry>) {
        self.by_key[list as usize].insert(ByKey(entry.clone()));
        if entry.resource().is_some() {
            self.by_name.entry(entry.name.to_string()).or_default().push(entry.clone());
        }
    }

    /// Adds an item.
    ///
    /// # Errors
    /// Fails if an item of this kind and key exists already.
    pub(super) fn add(&mut self, entry: &Arc<Entry>) -> Result<CatalogChange, String> {
        let rivals: &[ListKind] = match list_of(entry) {
            Some(ListKind::Tools) => &[ListKind::Tools],
            Some(ListKind::Prompts) => &[ListKind::Prompts],
            Some(ListKind::Resources | ListKind::Templates) => {
                &[ListKind::Resources, ListKind::Templates]
            }
            None => &[],
        };
        let found = rivals.iter().find_map(|list| self.by_key[*list as usize].get(entry.key()));
        if let Some(ByKey(other)) = found {
            return Err(format!(
                "there is a {} `{}` already: {}",
                entry.kind_name(),
                entry.key(),
                other.place()
            ));
        }
        let mut change = CatalogChange::default();
        if let Some(list) = list_of(entry) {
            change.lists[list as usize] = true;
            self.index(list, entry);
            self.sorted.insert(Sorted(list, entry.clone()), true);
        }
        Ok(change)
    }

    /// Removes every item with this name or key. Returns `None` if there is no such item.
    pub(super) fn remove(&mut self, name: &str) -> Option<CatalogChange> {
        let mut change = CatalogChange::default();
        for Sorted(list, entry) in self.named(name) {
            self.by_key[list as usize].remove(entry.key());
            if let Some(same) = self.by_name.get_mut(&*entry.name) {
                same.retain(|other| !Arc::ptr_eq(other, &entry));
                if same.is_empty() {
                    self.by_name.remove(&*entry.name);
                }
            }
            let sorted = Sorted(list, entry);
            change.lists[list as usize] |= self.sorted.remove(&sorted) == Some(true);
            change.removed.push(sorted.1);
        }
        (!change.removed.is_empty()).then_some(change)
    }

    /// Enables or disables every item with this name or key. Returns `None` if there is no such item.
    pub(super) fn enable(&mut self, name: &str, enabled: bool) -> Option<CatalogChange> {
        let named = self.named(name);
        let mut change = CatalogChange::default();
        for item in &named {
            if let Some(before) = self.sorted.get_mut(item) {
                change.lists[item.0 as usize] |= *before != enabled;
                *before = enabled;
            }
        }
        (!named.is_empty()).then_some(change)
    }

    /// Returns every item with this name or key, each once.
    fn named(&self, name: &str) -> Vec<Sorted> {
        let by_key = self.by_key.iter().filter_map(|list| list.get(name)).map(|ByKey(entry)| entry);
        let by_name =
            self.by_name.get(name).into_iter().flatten().filter(|entry| entry.key() != name);
        let all = by_key.chain(by_name);
        all.filter_map(|entry| Some(Sorted(list_of(entry)?, entry.clone()))).collect()
    }

    /// Returns all items, in the order of their lists. The `bool` is `true` if the item is enabled.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ListKind, &Arc<Entry>, bool)> {
        self.sorted.iter().map(|(Sorted(list, entry), enabled)| (*list, entry, *enabled))
    }

    /// Returns the functions that complete arguments, by their identities.
    pub(super) fn completions(&self) -> &Arc<FxHashMap<TypeId, Arc<Entry>>> {
        &self.completions
    }
}

/// Wrapper that sorts entries by their list, and by their position in that list.
struct Sorted(ListKind, Arc<Entry>);

impl Sorted {
    fn key(&self) -> (usize, (i64, &str, &str)) {
        (self.0 as usize, sort_key(&self.1))
    }
}

impl PartialEq for Sorted {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Sorted {}

impl PartialOrd for Sorted {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sorted {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Entry found by its key: a tool or prompt by its name, a resource or template by its URI.
pub(super) struct ByKey(pub(super) Arc<Entry>);

impl Borrow<str> for ByKey {
    fn borrow(&self) -> &str {
        self.0.key()
    }
}

impl PartialEq for ByKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.key() == other.0.key()
    }
}

impl Eq for ByKey {}

impl Hash for ByKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.key().hash(state);
    }
}

/// Returns the sort key of an entry in its list.
pub(super) fn sort_key(entry: &Entry) -> (i64, &str, &str) {
    (entry.order, &entry.name, entry.key())
}

fn list_of(entry: &Entry) -> Option<ListKind> {
    match &entry.kind {
        EntryKind::Tool(_) => Some(ListKind::Tools),
        EntryKind::Resource(resource) if resource.template.is_some() => Some(ListKind::Templates),
        EntryKind::Resource(_) => Some(ListKind::Resources),
        EntryKind::Prompt(_) => Some(ListKind::Prompts),
        EntryKind::Completion { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        call::context::Context,
        catalog::{Prompt, Resource, Tool, Variables, live::Item},
        schema::SchemaProfile,
    };

    fn entry(item: impl Item) -> Arc<Entry> {
        Arc::new(item.into_entry(SchemaProfile::default()).expect("a good item").0)
    }

    fn tool(name: &'static str) -> Tool {
        Tool::new(name).handler(async |_: Context| "")
    }

    fn resource(uri: &'static str) -> Arc<Entry> {
        entry(Resource::new(uri, "a").handler(async |_: Variables, _: Context| ""))
    }

    /// Returns five items with the name `a` and different kinds or URIs, and a tool `b`.
    fn items() -> ItemIndex {
        let mut items = ItemIndex::default();
        let prompt = Prompt::new("a").handler(async |_: Variables, _: Context| "");
        let uris = ["x://1", "x://2", "x://{it}"].map(resource);
        for item in uris.iter().chain([&entry(tool("a")), &entry(prompt), &entry(tool("b"))]) {
            assert!(items.add(item).is_ok());
        }
        items
    }

    fn keys(items: &ItemIndex) -> Vec<(ListKind, &str, bool)> {
        items.iter().map(|(list, entry, enabled)| (list, entry.key(), enabled)).collect()
    }

    #[test]
    fn a_name_selects_all_items_of_that_name_and_a_uri_selects_one_item() {
        fn check(name: &str, expected: &[&str], told: [bool; 4]) {
            let mut items = items();
            let hidden = items.enable(name, false).expect("there are some");
            assert_eq!(hidden.lists, told, "{name}");
            assert!(items.enable(name, false).is_some_and(|change| change.is_empty()), "{name}");
            let left = keys(&items).into_iter().filter(|item| item.2).map(|item| item.1);
            assert_eq!(left.collect::<Vec<_>>(), expected, "{name}");
            // The items were disabled, so their removal changes no list.
            let gone = items.remove(name).expect("there are some");
            assert_eq!(
                (gone.removed.len(), gone.lists),
                (6 - expected.len(), [false; 4]),
                "{name}"
            );
            assert_eq!(keys(&items).len(), expected.len(), "{name}");
            assert!(items.remove(name).is_none() && items.enable(name, true).is_none(), "{name}");
        }
        check("b", &["a", "x://1", "x://2", "x://{it}", "a"], [true, false, false, false]);
        check("x://1", &["a", "b", "x://2", "x://{it}", "a"], [false, true, false, false]);
        check("x://{it}", &["a", "b", "x://1", "x://2", "a"], [false, false, true, false]);
        check("a", &["b"], [true; 4]);
    }

    #[test]
    fn removed_items_leave_no_index_entries_behind() {
        let mut items = items();
        for name in ["x://2", "a", "b"] {
            assert!(items.remove(name).is_some(), "{name}");
        }
        assert!(items.sorted.is_empty() && items.by_name.is_empty());
        assert!(items.by_key.iter().all(FxHashSet::is_empty));
        assert!(items.add(&resource("x://1")).is_ok());
    }

    #[test]
    fn an_item_with_the_key_of_a_hidden_item_cannot_be_added() {
        let mut items = items();
        items.enable("a", false).expect("there are some");
        let error = items.add(&entry(tool("a"))).err();
        assert_eq!(
            error.as_deref(),
            Some("there is a tool `a` already: an item added while running")
        );
        assert!(items.add(&resource("x://{it}")).is_err());
    }

    #[test]
    fn the_order_decides_before_the_name() {
        let mut items = items();
        assert!(items.add(&entry(tool("z").order(-1))).is_ok());
        let tools = keys(&items).into_iter().filter(|item| item.0 == ListKind::Tools);
        assert_eq!(tools.map(|item| item.1).collect::<Vec<_>>(), ["z", "a", "b"]);
    }
}
