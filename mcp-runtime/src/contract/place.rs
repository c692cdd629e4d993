//! Where in the sources something is said.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::manifest::Kind;
use crate::catalog::Entry;

/// A place in the sources, as exactly as it is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Line(&'static str, u32),
    /// Of what is gone, only the file in which its like are is known.
    File(&'static str),
    Nowhere,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(file, line) => write!(f, "{file}:{line}"),
            Self::File(file) => f.write_str(file),
            Self::Nowhere => f.write_str("nowhere"),
        }
    }
}

/// Where the items of a server are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(BTreeMap<(Kind, String), Place>);

impl Places {
    pub(super) fn add(&mut self, kind: Kind, entry: &Entry) {
        let place = match entry.origin {
            Some(origin) => Place::Line(origin.file, origin.line),
            None => Place::Nowhere,
        };
        self.0.insert((kind, entry.key().to_owned()), place);
    }

    #[cfg(test)]
    pub(super) fn set(&mut self, kind: Kind, key: &str, place: Place) {
        self.0.insert((kind, key.to_owned()), place);
    }

    /// The attribute of an item.
    pub(super) fn item(&self, kind: Kind, key: &str) -> Place {
        self.0.get(&(kind, key.to_owned())).cloned().unwrap_or(Place::Nowhere)
    }

    /// An argument, or its item where the argument is not there or its line is not known.
    pub(super) fn argument(&self, kind: Kind, key: &str, _argument: &str) -> Place {
        self.item(kind, key)
    }

    /// The file that an item must have been in: that of all others of its kind, or of all items.
    pub(super) fn of_gone(&self, kind: Kind) -> Place {
        let one = |wanted: &dyn Fn(Kind) -> bool| {
            let files: BTreeSet<&'static str> = self
                .0
                .iter()
                .filter(|(key, _)| wanted(key.0))
                .filter_map(|(_, place)| match place {
                    Place::Line(file, _) => Some(*file),
                    _ => None,
                })
                .collect();
            Some(*files.first()?).filter(|_| files.len() == 1)
        };
        one(&|it| it == kind).or_else(|| one(&|_| true)).map_or(Place::Nowhere, Place::File)
    }
}
