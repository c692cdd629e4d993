//! Places of items and arguments in the sources.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::manifest::Kind;
use crate::{catalog::Entry, collect::collect_by_insert, item::ArgDef};

/// Place in the sources, as exactly as it is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Line(&'static str, u32),
    /// File of an item that is gone, known from the items that are left.
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

/// Places of a server's items and of their arguments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(BTreeMap<(Kind, String), Item>);

#[derive(Clone, Debug)]
struct Item {
    place: Place,
    /// Lines of arguments, in the file of the item.
    arguments: BTreeMap<&'static str, u32>,
    /// Line of the parameter whose type contains all other arguments.
    others: Option<u32>,
}

impl Item {
    fn of(entry: &Entry) -> Self {
        let place = match entry.origin {
            Some(origin) => Place::Line(origin.file, origin.line),
            None => Place::Nowhere,
        };
        // Generated functions have parameters without a line.
        let known = entry.parameters.iter().copied().filter(|it| it.line > 0);
        let (own, spread): (Vec<&'static ArgDef>, Vec<&'static ArgDef>) =
            known.partition(|it| entry.names.own.iter().any(|name| name == it.name));
        let others = match spread.as_slice() {
            [one] => Some(one.line),
            _ => None,
        };
        Self {
            place,
            arguments: collect_by_insert(own.into_iter().map(|it| (it.name, it.line))),
            others,
        }
    }
}

impl Places {
    pub(super) fn add(&mut self, kind: Kind, entry: &Entry) {
        self.0.insert((kind, entry.key().to_owned()), Item::of(entry));
    }

    #[cfg(test)]
    pub(super) fn set(&mut self, kind: Kind, key: &str, place: Place) {
        let item = Item { place, arguments: BTreeMap::new(), others: None };
        self.0.insert((kind, key.to_owned()), item);
    }

    fn find(&self, kind: Kind, key: &str) -> Option<&Item> {
        self.0.get(&(kind, key.to_owned()))
    }

    /// Returns the place of an item's attribute.
    pub(super) fn item(&self, kind: Kind, key: &str) -> Place {
        self.find(kind, key).map_or(Place::Nowhere, |it| it.place.clone())
    }

    /// Returns the place of the parameter that is the argument, or that has the argument in its type. If its line is unknown, returns the
    /// place of the item.
    pub(super) fn argument(&self, kind: Kind, key: &str, argument: &str) -> Place {
        let Some(item) = self.find(kind, key) else { return Place::Nowhere };
        match (&item.place, item.arguments.get(argument).copied().or(item.others)) {
            (Place::Line(file, _), Some(line)) => Place::Line(file, line),
            (place, _) => place.clone(),
        }
    }

    /// Returns the file that must have contained an item that is gone: the only file with items of its kind, or the only file with items.
    pub(super) fn of_gone(&self, kind: Kind) -> Place {
        let one = |wanted: &dyn Fn(Kind) -> bool| {
            let items = self.0.iter().filter(|(key, _)| wanted(key.0));
            let files: BTreeSet<&'static str> =
                collect_by_insert(items.filter_map(|(_, item)| match item.place {
                    Place::Line(file, _) => Some(file),
                    _ => None,
                }));
            Some(*files.first()?).filter(|_| files.len() == 1)
        };
        one(&|it| it == kind).or_else(|| one(&|_| true)).map_or(Place::Nowhere, Place::File)
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Place, Places};
    use crate::{
        call::extract::Args,
        catalog::Entry,
        item::{ArgDef, ItemDef},
        registry,
    };
    use mcp_macros::tool;
    use schemars::JsonSchema;
    use serde::Deserialize;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its names count")]
    struct Trip {
        from: String,
    }

    #[tool(crate = crate, group = "places")]
    fn go(times: u8, trip: Args<Trip>) -> u8 {
        drop(trip);
        times
    }

    fn def() -> &'static ItemDef {
        registry::all().find(|it| it.group == Some("places")).expect("the tool")
    }

    /// Checks the lines of the arguments of `go` if its parameters are in `lines`.
    fn check(lines: [u32; 2], times: u32, from: u32, gone: u32) {
        let mut params = crate::call::extract::Params::default();
        (def().params)(&mut params);
        let mut entry = Entry::of(def(), params).expect("an entry");
        entry.make_input_schema().expect("a schema");
        let moved = entry.parameters.iter().zip(lines).map(|(it, line)| {
            let def: &'static ArgDef = Box::leak(Box::new(ArgDef::new(it.name).line(line)));
            def
        });
        entry.parameters = moved.collect();
        let mut places = Places::default();
        places.add(Kind::Tool, &entry);
        let file = def().origin.file;
        for (name, line) in [("times", times), ("from", from), ("gone", gone)] {
            assert_eq!(places.argument(Kind::Tool, "go", name), Place::Line(file, line), "{name}");
        }
    }

    #[test]
    fn an_argument_is_where_its_parameter_is() {
        let item = def().origin.line;
        check([0, 0], item, item, item);
        check([70, 0], 70, item, item);
        // An argument without a parameter may have been in the type that contains the others.
        check([70, 71], 70, 71, 71);
    }

    #[test]
    fn a_removed_item_is_placed_in_the_file_of_the_remaining_items() {
        let mut places = Places::default();
        assert_eq!(places.of_gone(Kind::Tool), Place::Nowhere);
        places.set(Kind::Prompt, "a", Place::Line("a.rs", 1));
        assert_eq!(places.of_gone(Kind::Tool), Place::File("a.rs"));
        places.set(Kind::Tool, "b", Place::Line("b.rs", 1));
        assert_eq!(places.of_gone(Kind::Tool), Place::File("b.rs"));
        assert_eq!(places.of_gone(Kind::Resource), Place::Nowhere);
        assert_eq!(places.argument(Kind::Tool, "none", "x"), Place::Nowhere);
    }
}
