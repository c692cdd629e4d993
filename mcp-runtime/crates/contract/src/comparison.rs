//! Compares two manifests, and finds items that were removed, added or changed.

use serde_json::Value;

use crate::{
    change::{ChangeClass, ContractChange, ContractReport},
    item,
    manifest::{ItemKind, ItemList, JsonObject, Manifest},
    place::{SourcePlace, SourcePlaces},
    schema, suggest,
};

/// Manifest of the current server, and the places of its items.
#[derive(Clone, Debug)]
pub struct Published {
    /// Everything that the server publishes.
    pub manifest: Manifest,
    /// Places of the items in the sources.
    pub places: SourcePlaces,
}

impl Published {
    /// Returns the changes since the manifest in `lock` was written.
    ///
    /// # Errors
    /// Fails if the text is not a lock file, or is the lock file of another server.
    pub fn against(&self, lock: &[u8]) -> Result<ContractReport, String> {
        let old = Manifest::read(lock)?;
        if is_foreign(&old, &self.manifest) {
            return Err(format!(
                "it is the lock of the server `{}`, but this server is `{}`, which has almost nothing in common with it",
                old.name(),
                self.manifest.name()
            ));
        }
        Ok(compare(&old, self))
    }
}

/// Whether a lock belongs to a different server: the name differs, and fewer than half of the items still exist. A server that was only
/// renamed keeps its items, so a new name alone is not enough.
fn is_foreign(old: &Manifest, new: &Manifest) -> bool {
    let (mut all, mut kept) = (0, 0);
    for kind in ItemKind::ALL {
        all += old.list(kind).len();
        kept += old.list(kind).keys().filter(|key| new.list(kind).contains_key(*key)).count();
    }
    old.name() != new.name() && kept * 2 < all.max(1)
}

pub(crate) fn compare(old: &Manifest, new: &Published) -> ContractReport {
    let mut changes = Vec::new();
    for member in ["name", "title", "description", "websiteUrl", "icons", "instructions"] {
        let (was, is) = (old.server.get(member), new.manifest.server.get(member));
        if let Some(text) = schema::describe_change(member, was, is) {
            changes.push(ContractChange {
                class: ChangeClass::Cosmetic,
                place: SourcePlace::Nowhere,
                subject: "the server".to_owned(),
                text,
                advice: None,
                type_key: None,
            });
        }
    }
    for kind in ItemKind::ALL {
        compare_lists(kind, old.list(kind), new, &mut changes);
    }
    ContractReport::new(changes)
}

fn compare_lists(
    kind: ItemKind,
    old: &ItemList,
    new: &Published,
    changes: &mut Vec<ContractChange>,
) {
    let list = new.manifest.list(kind);
    let mut added: Vec<&String> = list.keys().filter(|key| !old.contains_key(*key)).collect();
    for (key, was) in old {
        if let Some(is) = list.get(key) {
            item::compare(kind, key, was, is, &new.places, changes);
            continue;
        }
        let subject = format!("{} `{key}`", kind.noun());
        let Some(at) = find_renamed(kind, key, was, &added, list) else {
            changes.push(ContractChange {
                class: ChangeClass::Breaking,
                place: new.places.of_gone(kind),
                subject,
                text: "is gone".to_owned(),
                advice: Some("keep it for as long as clients call it".to_owned()),
                type_key: None,
            });
            continue;
        };
        let name = added.swap_remove(at);
        let advice = match kind {
            ItemKind::Tool | ItemKind::Prompt => {
                format!("keep the old name: `#[{}(name = \"{key}\")]`", kind.noun())
            }
            ItemKind::Resource | ItemKind::Template => {
                format!("keep the old URI: `#[resource(\"{key}\")]`")
            }
        };
        changes.push(ContractChange {
            class: ChangeClass::Breaking,
            place: new.places.item(kind, name),
            subject,
            text: format!("seems to be `{name}` now: the old one is gone, and this one is new"),
            advice: Some(advice),
            type_key: None,
        });
        item::compare(kind, name, was, &list[name], &new.places, changes);
    }
    for key in added {
        changes.push(ContractChange {
            class: ChangeClass::Additive,
            place: new.places.item(kind, key),
            subject: format!("{} `{key}`", kind.noun()),
            text: "is new".to_owned(),
            advice: None,
            type_key: None,
        });
    }
}

/// Returns the index in `added` of the item that is the old item `key` under a new name.
fn find_renamed(
    kind: ItemKind,
    key: &str,
    was: &JsonObject,
    added: &[&String],
    list: &ItemList,
) -> Option<usize> {
    /// Score above which an item counts as renamed. Similar names alone reach it, as do an equal description and equal arguments together.
    const ENOUGH: f64 = 0.75;
    let says = |item: &JsonObject, member: &str| {
        item.get(member).filter(|value| **value != Value::Null).cloned()
    };
    let score = |name: &str| {
        let is = &list[name];
        let same =
            |member: &str| says(was, member).is_some_and(|value| Some(value) == says(is, member));
        let arguments = match kind {
            ItemKind::Tool => {
                same("inputSchema")
                    && was["inputSchema"]["properties"]
                        .as_object()
                        .is_some_and(|properties| !properties.is_empty())
            }
            _ => same("arguments"),
        };
        let words = same("description");
        let name = suggest::similarity(key, name);
        // Equal descriptions alone are not enough, because a description may have been copied. Equal arguments alone are not enough either,
        // because they are common.
        match (words, arguments) {
            (true, true) => name + 1.0,
            (true, false) | (false, true) => name + 0.2,
            (false, false) => name,
        }
    };
    let scored = added.iter().enumerate().map(|(at, name)| (at, score(name)));
    scored
        .filter(|candidate| candidate.1 > ENOUGH)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|candidate| candidate.0)
}
