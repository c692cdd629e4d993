//! Compares the items of two manifests: items that are gone, items that are new, and items in both.

use serde_json::Value;

use super::{
    change::{Change, Class, Report},
    item,
    manifest::{Kind, List, Manifest, Published},
    place::Place,
    schema,
};
use crate::suggest;

impl Published {
    /// Returns the changes since the manifest in `lock` was written.
    ///
    /// # Errors
    /// Fails if the text is no lock, or is the lock of another server.
    pub(crate) fn against(&self, lock: &[u8]) -> Result<Report, String> {
        let old = Manifest::read(lock)?;
        if is_foreign(&old, &self.manifest) {
            return Err(format!(
                "it is the lock of the server `{}`, and this is `{}`, which has next to nothing in common with it",
                old.name(),
                self.manifest.name()
            ));
        }
        Ok(compare(&old, self))
    }
}

/// Whether a lock belongs to another server: the name differs, and fewer than half of the items are still there. A server that was renamed
/// keeps its items.
fn is_foreign(old: &Manifest, new: &Manifest) -> bool {
    let (mut all, mut kept) = (0, 0);
    for kind in Kind::ALL {
        all += old.list(kind).len();
        kept += old.list(kind).keys().filter(|it| new.list(kind).contains_key(*it)).count();
    }
    old.name() != new.name() && kept * 2 < all.max(1)
}

pub(super) fn compare(old: &Manifest, new: &Published) -> Report {
    let mut changes = Vec::new();
    for member in ["name", "title", "description", "websiteUrl", "icons", "instructions"] {
        let (was, is) = (old.server.get(member), new.manifest.server.get(member));
        if let Some(text) = schema::differs(member, was, is) {
            changes.push(Change {
                class: Class::Cosmetic,
                place: Place::Nowhere,
                subject: "the server".to_owned(),
                text,
                advice: None,
                kin: None,
            });
        }
    }
    for kind in Kind::ALL {
        lists(kind, old.list(kind), new, &mut changes);
    }
    Report::new(changes)
}

fn lists(kind: Kind, old: &List, new: &Published, changes: &mut Vec<Change>) {
    let list = new.manifest.list(kind);
    let mut came: Vec<&String> = list.keys().filter(|it| !old.contains_key(*it)).collect();
    for (key, was) in old {
        if let Some(is) = list.get(key) {
            item::compare(kind, key, was, is, &new.places, changes);
            continue;
        }
        let subject = format!("{} `{key}`", kind.noun());
        let Some(at) = most_alike(kind, key, was, &came, list) else {
            changes.push(Change {
                class: Class::Breaking,
                place: new.places.of_gone(kind),
                subject,
                text: "is gone".to_owned(),
                advice: Some("bring it back, for as long as clients call it".to_owned()),
                kin: None,
            });
            continue;
        };
        let name = came.swap_remove(at);
        let advice = match kind {
            Kind::Tool | Kind::Prompt => {
                format!("keep the old name: `#[{}(name = \"{key}\")]`", kind.noun())
            }
            Kind::Resource | Kind::Template => {
                format!("keep the old URI: `#[resource(\"{key}\")]`")
            }
        };
        changes.push(Change {
            class: Class::Breaking,
            place: new.places.item(kind, name),
            subject,
            text: format!("is `{name}` now, it seems: the one is gone, and the other is new"),
            advice: Some(advice),
            kin: None,
        });
        item::compare(kind, name, was, &list[name], &new.places, changes);
    }
    for key in came {
        changes.push(Change {
            class: Class::Additive,
            place: new.places.item(kind, key),
            subject: format!("{} `{key}`", kind.noun()),
            text: "is new".to_owned(),
            advice: None,
            kin: None,
        });
    }
}

/// Returns which of the new items is the old item under another name.
fn most_alike(
    kind: Kind,
    key: &str,
    was: &crate::schema::Map,
    came: &[&String],
    list: &List,
) -> Option<usize> {
    /// Score above which an item counts as renamed: the names are similar, or the description and the arguments are equal.
    const ENOUGH: f64 = 0.75;
    let says = |item: &crate::schema::Map, member: &str| {
        item.get(member).filter(|it| **it != Value::Null).cloned()
    };
    let score = |name: &str| {
        let is = &list[name];
        let same = |member: &str| says(was, member).is_some_and(|it| Some(it) == says(is, member));
        let arguments = match kind {
            Kind::Tool => {
                same("inputSchema")
                    && was["inputSchema"]["properties"].as_object().is_some_and(|it| !it.is_empty())
            }
            _ => same("arguments"),
        };
        let words = same("description");
        let name = suggest::similarity(key, name);
        // A description alone may have been copied, and equal arguments alone are common.
        match (words, arguments) {
            (true, true) => name + 1.0,
            (true, false) | (false, true) => name + 0.2,
            (false, false) => name,
        }
    };
    let scored = came.iter().enumerate().map(|(at, name)| (at, score(name)));
    scored.filter(|it| it.1 > ENOUGH).max_by(|a, b| a.1.total_cmp(&b.1)).map(|it| it.0)
}
