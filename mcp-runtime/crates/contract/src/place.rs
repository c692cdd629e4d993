//! Places in the sources where the items and arguments of a server are written. Reports about changes name these places.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use crate::{collect::collect_by_insert, manifest::ItemKind};

/// Place in the sources, with as much detail as is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourcePlace {
    /// A file, and a line in it.
    Line(&'static str, u32),
    /// File of an item that is gone, inferred from the items that still exist.
    File(&'static str),
    /// An unknown place.
    Nowhere,
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(file, line) => write!(f, "{file}:{line}"),
            Self::File(file) => f.write_str(file),
            Self::Nowhere => f.write_str("nowhere"),
        }
    }
}

/// Places of a server's items and of their arguments.
#[derive(Clone, Debug, Default)]
pub struct SourcePlaces(BTreeMap<(ItemKind, String), ItemPlace>);

/// Places of an item and of its arguments.
#[derive(Clone, Debug)]
pub struct ItemPlace {
    /// Place of the item's attribute.
    pub place: SourcePlace,
    /// Lines of arguments, in the file of the item.
    pub arguments: BTreeMap<&'static str, u32>,
    /// Line of the parameter whose type contains all other arguments.
    pub others: Option<u32>,
}

impl From<SourcePlace> for ItemPlace {
    /// Creates the places of an item whose arguments have no known places.
    fn from(place: SourcePlace) -> Self {
        Self { place, arguments: BTreeMap::new(), others: None }
    }
}

impl SourcePlaces {
    /// Adds an item. `key` is the value of the member that identifies the item.
    pub fn add(&mut self, kind: ItemKind, key: &str, place: ItemPlace) {
        self.0.insert((kind, key.to_owned()), place);
    }

    fn find(&self, kind: ItemKind, key: &str) -> Option<&ItemPlace> {
        self.0.get(&(kind, key.to_owned()))
    }

    /// Returns the place of an item's attribute.
    pub(crate) fn item(&self, kind: ItemKind, key: &str) -> SourcePlace {
        self.find(kind, key).map_or(SourcePlace::Nowhere, |item| item.place.clone())
    }

    /// Returns the place of the parameter that declares the argument, or whose type contains the argument. If the line of the parameter is
    /// unknown, returns the place of the item.
    pub fn argument(&self, kind: ItemKind, key: &str, argument: &str) -> SourcePlace {
        let Some(item) = self.find(kind, key) else { return SourcePlace::Nowhere };
        match (&item.place, item.arguments.get(argument).copied().or(item.others)) {
            (SourcePlace::Line(file, _), Some(line)) => SourcePlace::Line(file, line),
            (place, _) => place.clone(),
        }
    }

    /// Returns the file that probably contained an item that is gone: the only file with items of its kind, or the only file with items.
    pub(crate) fn of_gone(&self, kind: ItemKind) -> SourcePlace {
        let one = |wanted: &dyn Fn(ItemKind) -> bool| {
            let items = self.0.iter().filter(|(key, _)| wanted(key.0));
            let files: BTreeSet<&'static str> =
                collect_by_insert(items.filter_map(|(_, item)| match item.place {
                    SourcePlace::Line(file, _) => Some(file),
                    _ => None,
                }));
            Some(*files.first()?).filter(|_| files.len() == 1)
        };
        one(&|of_item| of_item == kind)
            .or_else(|| one(&|_| true))
            .map_or(SourcePlace::Nowhere, SourcePlace::File)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_item_is_placed_in_the_file_of_the_remaining_items() {
        let mut places = SourcePlaces::default();
        assert_eq!(places.of_gone(ItemKind::Tool), SourcePlace::Nowhere);
        places.add(ItemKind::Prompt, "a", SourcePlace::Line("a.rs", 1).into());
        assert_eq!(places.of_gone(ItemKind::Tool), SourcePlace::File("a.rs"));
        places.add(ItemKind::Tool, "b", SourcePlace::Line("b.rs", 1).into());
        assert_eq!(places.of_gone(ItemKind::Tool), SourcePlace::File("b.rs"));
        assert_eq!(places.of_gone(ItemKind::Resource), SourcePlace::Nowhere);
        assert_eq!(places.argument(ItemKind::Tool, "none", "x"), SourcePlace::Nowhere);
    }
}
