//! How one tells the alternatives of a choice apart, as the variants of an enum with data are.

use std::fmt;

use serde_json::Value;

use super::{document::Document, set::Set};

/// What all values of an alternative have and those of the others do not.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tag {
    /// A member with one possible value: `#[serde(tag = "kind")]`.
    Value(String, Value),
    /// The only member there is.
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

/// `None` for what is no such alternative.
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
