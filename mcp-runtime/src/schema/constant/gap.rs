//! Explains to the author of a server why schemars generates a schema at run time.

use super::{
    facts::MOST_NODES,
    node::{Member, Node, NodeShape},
};

impl Node {
    /// Returns a sentence about the first part that no constant describes. `place` is the path to this node, such as `order.items[]`.
    pub(crate) fn gap(&self, place: &str) -> Option<String> {
        if self.is_constant() {
            return None;
        }
        // Only small schemas are searched. Larger schemas can have more parts than a search can visit in reasonable time.
        if self.room_after(MOST_NODES) == 0 {
            return Some(format!("{} contains itself, or is too large", quoted(place)));
        }
        let inside = match self.shape {
            NodeShape::Unknown(Some(name)) => {
                let name = short(name());
                return Some(format!("the compiler does not know {}: `{name}`", typed(place)));
            }
            NodeShape::Optional(inner) => inner.gap(place),
            NodeShape::Array { items, .. } => items.gap(&format!("{place}[]")),
            NodeShape::Map(values) => values.gap(&format!("{place}{{}}")),
            NodeShape::Tuple(parts) => {
                parts.iter().find_map(|element| element.gap(&format!("{place}[]")))
            }
            NodeShape::Object(object) | NodeShape::Tagged { object, .. } => {
                members(object.members, place)
            }
            NodeShape::OneOf(branches) => branches.iter().find_map(|branch| branch.node.gap(place)),
            _ => None,
        };
        inside.or_else(|| Some(format!("the compiler does not know {}", typed(place))))
    }
}

fn members(all: &[Member], place: &str) -> Option<String> {
    all.iter().find_map(|member| {
        let place = match place {
            "" => member.name.to_owned(),
            _ => format!("{place}.{}", member.name),
        };
        member.node.gap(&place).or_else(|| {
            let is_unknown = member.notes().default.is_unknown();
            is_unknown.then(|| format!("the compiler does not know the default of `{place}`"))
        })
    })
}

fn quoted(place: &str) -> String {
    if place.is_empty() { "the type".to_owned() } else { format!("`{place}`") }
}

fn typed(place: &str) -> String {
    if place.is_empty() { "the type".to_owned() } else { format!("the type of `{place}`") }
}

/// Returns the name of a type without its modules.
pub(crate) fn short(name: &str) -> String {
    let mut text = String::new();
    let mut word = 0;
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("::") {
            text.truncate(word);
            rest = after;
            continue;
        }
        rest = &rest[c.len_utf8()..];
        text.push(c);
        if !(c.is_alphanumeric() || c == '_') {
            word = text.len();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroI64;

    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::short;
    use crate::{
        __private::Schema,
        schema::constant::{Known, NotKnown as _, Top},
    };

    #[derive(Serialize, Deserialize, JsonSchema, Schema)]
    #[mcp(crate = "crate")]
    struct Order {
        items: Vec<Item>,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Schema)]
    #[mcp(crate = "crate")]
    struct Item {
        price: Option<NonZeroI64>,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Schema)]
    #[mcp(crate = "crate")]
    struct Tree {
        below: Vec<Branch>,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Schema)]
    #[mcp(crate = "crate")]
    struct Branch {
        tree: Tree,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Schema)]
    #[mcp(crate = "crate")]
    struct Counted {
        #[serde(default = "one")]
        count: u8,
        #[serde(default)]
        of: Inner,
    }

    fn one() -> u8 {
        1
    }

    #[derive(Serialize, Deserialize, JsonSchema, Schema, Default)]
    #[mcp(crate = "crate")]
    struct Inner {
        id: u8,
    }

    #[test]
    fn a_gap_is_where_the_unknown_type_is() {
        macro_rules! check {
            ($ty:ty, $place:literal, $expected:expr) => {
                assert_eq!(Known::<$ty, Top>::NODE.gap($place).as_deref(), $expected);
            };
        }
        check!(Vec<String>, "x", None);
        check!(
            Order,
            "order",
            Some(
                "the compiler does not know the type of `order.items[].price`: `Option<NonZero<i64>>`"
            )
        );
        check!(
            Order,
            "",
            Some("the compiler does not know the type of `items[].price`: `Option<NonZero<i64>>`")
        );
        check!(NonZeroI64, "", Some("the compiler does not know the type: `NonZero<i64>`"));
        check!(Tree, "tree", Some("`tree` contains itself, or is too large"));
        check!(Counted, "x", Some("the compiler does not know the type of `x`: `Counted`"));
        check!((Inner, Inner), "x", Some("the compiler does not know the type of `x`"));
    }

    #[test]
    fn a_type_has_a_short_name() {
        let check = |name: &str, expected: &str| assert_eq!(short(name), expected);
        check("i64", "i64");
        check("chrono::datetime::DateTime<chrono::offset::Utc>", "DateTime<Utc>");
        check("(&str, alloc::vec::Vec<[a::B; 3]>)", "(&str, Vec<[B; 3]>)");
        check(
            "std::sync::poison::mutex::Mutex<std::collections::hash::map::HashMap<alloc::string::String, shop::Db>>",
            "Mutex<HashMap<String, Db>>",
        );
        check("dyn shop::Store + core::marker::Send", "dyn Store + Send");
    }
}
