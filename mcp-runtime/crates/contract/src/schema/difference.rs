//! Differences between two schemas: mismatches in the values that they accept, and the findings that a report shows for them.

use std::fmt::{self, Write as _};

use serde_json::Value;

use super::{set::AlternativeTag, value::TypeSet};
use crate::change::ChangeClass;

/// Use of a schema, which determines who sends the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaUse {
    /// Clients send the values, so every value that was accepted must still be accepted.
    Arguments,
    /// The server sends the values, so the old schema must accept every value that the server sends now.
    Result,
}

/// Remedy for a breaking difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    None,
    KeepOldName(String),
    KeepArgument,
    KeepMember,
    MakeOptional,
    LeaveOpen,
    AcceptBoth,
    KeepPromise,
    KeepDefault,
    KeepHeader,
}

/// Difference between two schemas.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SchemaFinding {
    pub(crate) class: ChangeClass,
    pub(crate) path: ValuePath,
    pub(crate) text: String,
    pub(crate) remedy: Remedy,
}

/// Step of a path into a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PathStep {
    Member(String),
    /// Any element of a list.
    Element,
    /// The element of a tuple at this index.
    Place(usize),
    /// Members without a declared name.
    Others,
    /// A definition, which may be used in several places.
    Definition(String),
}

/// Path to a part of a value: `trip.stops[].name`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ValuePath(pub(super) Vec<PathStep>);

impl ValuePath {
    /// Returns the name of the argument that contains this part.
    pub(crate) fn argument(&self) -> Option<&str> {
        match self.0.first() {
            Some(PathStep::Member(name)) => Some(name),
            _ => None,
        }
    }

    /// Whether the path leads to a whole argument, and not to a part of an argument.
    pub(crate) fn is_argument(&self) -> bool {
        self.0.len() == 1
    }

    pub(super) fn parent(&self) -> &[PathStep] {
        self.0.split_last().map_or(&[], |split| split.1)
    }

    pub(super) fn name(&self) -> Option<&str> {
        match self.0.last() {
            Some(PathStep::Member(name)) => Some(name),
            _ => None,
        }
    }
}

impl fmt::Display for ValuePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Member(name) if at == 0 => f.write_str(name)?,
                PathStep::Member(name) => write!(f, ".{name}")?,
                PathStep::Element => f.write_str("[]")?,
                PathStep::Place(index) => write!(f, "[{index}]")?,
                PathStep::Others => f.write_str("{}")?,
                PathStep::Definition(name) => write!(f, "({name})")?,
            }
        }
        Ok(())
    }
}

/// Reason why the wider schema does not accept all values of the narrower schema.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mismatch {
    Types {
        narrow: TypeSet,
        wide: TypeSet,
    },
    /// Values that only the narrower schema lists.
    Values(Vec<Value>),
    /// The wider schema lists its values, and the narrower one does not.
    Listed {
        narrow: TypeSet,
        wide: Vec<Value>,
    },
    /// A bound, a length, a pattern or a format of the wider schema that the narrower schema does not guarantee.
    Keyword {
        keyword: String,
        narrow: Option<Value>,
        wide: Value,
    },
    /// The wider schema requires the member, which is optional in the narrower one.
    Required,
    /// The wider schema requires the member, and the narrower one does not mention it.
    NewRequired,
    /// Only the narrower schema declares the member. If `closed` is set, the wider schema accepts only members that it declares.
    Undeclared {
        closed: bool,
        schema: Value,
    },
    /// The narrower schema has members without a declared name, and the wider schema accepts none.
    Others,
    /// The narrower schema does not exclude undeclared members, and the wider schema does.
    Closed,
    /// Alternative that only the narrower schema has.
    Alternative(AlternativeTag),
    /// The wider schema accepts nothing.
    Nothing,
    /// Difference that cannot be decided.
    Undecided(String),
}

/// Context for the text of a mismatch: which schema is the old one, and whether the values are arguments.
#[derive(Clone, Copy)]
pub(super) struct MismatchContext {
    /// Whether the narrower schema is the old one.
    pub(super) forward: bool,
    pub(super) is_argument: bool,
}

impl Mismatch {
    pub(super) fn text(&self, context: MismatchContext) -> String {
        let MismatchContext { forward, is_argument } = context;
        let was_is = |narrow: &dyn fmt::Display, wide: &dyn fmt::Display| {
            if forward {
                format!("was {narrow}, is {wide}")
            } else {
                format!("was {wide}, is {narrow}")
            }
        };
        match self {
            // The schema of an `Option` combines a type with `null`, so a difference in `null` alone has texts of its own.
            Self::Types { narrow: TypeSet::NULL, wide } if forward => {
                format!("may not be null any more, only {wide}")
            }
            Self::Types { narrow: TypeSet::NULL, wide } => {
                format!("may be null now, not only {wide}")
            }
            Self::Types { narrow, wide } => was_is(narrow, wide),
            Self::Values(values) => {
                let value = if values.len() == 1 { "value" } else { "values" };
                match forward {
                    true => format!("has lost the {value} {}", listed(values)),
                    false => format!("has the new {value} {}", listed(values)),
                }
            }
            Self::Listed { narrow, wide } => {
                was_is(narrow, &format_args!("one of {}", listed(wide)))
            }
            Self::Keyword { keyword, narrow, wide } => {
                let (was, is) = match forward {
                    true => (narrow.as_ref(), Some(wide)),
                    false => (Some(wide), narrow.as_ref()),
                };
                match (was, is) {
                    (None, Some(is)) => format!("has a `{keyword}` of {is} now"),
                    (Some(was), None) => format!("has no `{keyword}` any more, it was {was}"),
                    (Some(was), Some(is)) => format!("has a `{keyword}` of {is}, it was {was}"),
                    (None, None) => format!("has a different `{keyword}`"),
                }
            }
            Self::Required => match (forward, is_argument) {
                (true, true) => "must be given now",
                (true, false) => "is always there now",
                (false, true) => "may be left out now",
                (false, false) => "may be missing now",
            }
            .to_owned(),
            Self::NewRequired => match (forward, is_argument) {
                (true, true) => "is new and must be given",
                (true, false) => "is new and always there",
                (false, _) => "is gone",
            }
            .to_owned(),
            Self::Undeclared { .. } if forward => "is gone".to_owned(),
            Self::Undeclared { closed: true, .. } if !is_argument => {
                "is new, and other members were ruled out before".to_owned()
            }
            Self::Undeclared { .. } => "is new".to_owned(),
            Self::Others if forward => "has no undeclared members any more".to_owned(),
            Self::Others => "may have undeclared members now".to_owned(),
            Self::Closed if forward => "refuses undeclared members now".to_owned(),
            Self::Closed => "accepts undeclared members now".to_owned(),
            Self::Alternative(tag) if forward => format!("has lost the alternative {tag}"),
            Self::Alternative(tag) => format!("has the new alternative {tag}"),
            Self::Nothing if forward => "has no possible value any more".to_owned(),
            Self::Nothing => "had no possible value".to_owned(),
            Self::Undecided(what) => match (forward, is_argument) {
                (true, true) => {
                    format!("cannot be shown to accept what was accepted before: {what}")
                }
                (false, false) => {
                    format!("cannot be shown to be what was promised before: {what}")
                }
                _ => format!("is described differently: {what}"),
            },
        }
    }
}

/// Formats the values as a list, each in backticks. If the list is long, only its first values are shown, followed by the number of the
/// others.
fn listed(values: &[Value]) -> String {
    const MOST: usize = 8;
    let mut text = String::new();
    for (at, value) in values.iter().take(MOST).enumerate() {
        text.push_str(if at > 0 { ", " } else { "" });
        let _ = write!(text, "`{value}`");
    }
    if values.len() > MOST {
        let _ = write!(text, " and {} more", values.len() - MOST);
    }
    text
}
