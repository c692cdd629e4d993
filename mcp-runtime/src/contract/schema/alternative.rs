//! Tells the alternatives of a choice apart, such as the variants of an enum with data.

use std::fmt;

use serde_json::Value;

use super::{document::Document, set::Set};

/// Property that all values of an alternative have, and values of the other alternatives do not.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tag {
    /// A member with one possible value: `#[serde(tag = "kind")]`.
    Value(String, Value),
    /// The only member.
    Member(String),
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(name, value) => write!(f, "`{name}` = `{value}`"),
            Self::Member(name) => write!(f, "`{name}`"),
        }
    }
}

/// Returns the tag of an alternative, or `None` if it has none.
pub(super) fn tag<'a>(set: &Set<'a>, document: Document<'a>) -> Option<Tag> {
    let set = set.clone().flat(document)?;
    let required: Vec<&'a str> = set
        .said("required")
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for name in &required {
        let member = Set::new(set.member(name)).flat(document)?;
        if let Some((values, true)) = member.values()
            && let [value] = values.as_slice()
        {
            return Some(Tag::Value((*name).to_owned(), value.clone()));
        }
    }
    let declared: Vec<&String> =
        set.said("properties").filter_map(Value::as_object).flat_map(|it| it.keys()).collect();
    match (declared.as_slice(), required.as_slice()) {
        ([only], [name]) if only == name => Some(Tag::Member((*only).clone())),
        _ => None,
    }
}
