//! Error of an argument that could not be read.

use std::{borrow::Cow, fmt};

use mcp_runtime_contract::suggest::nearest;
use mcp_runtime_wire::{JsonKind, Raw};
use serde::de::{self, Error as _, Expected, Unexpected};

use super::unknown::{Step, path, unknown_argument};
use crate::error::shown;

/// Error of an argument that could not be read. It holds the path to the wrong value, which the readers of the values around it complete.
#[derive(Debug)]
pub(crate) struct ReadError(Box<Failure>);

#[derive(Debug)]
struct Failure {
    reason: Reason,
    /// Path to the value, with the innermost step first.
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Reason {
    Other(String),
    /// Value of another type, or outside the values of its type.
    Mismatch(String),
    /// The mark of the value at this index.
    Mark(usize),
    MissingField(&'static str),
    UnknownField(String, &'static [&'static str]),
    UnknownVariant(String, &'static [&'static str]),
    /// Name of a variant that has content, without the content.
    NameAlone,
}

impl ReadError {
    fn new(reason: Reason) -> Self {
        Self(Box::new(Failure { reason, steps: Vec::new() }))
    }

    /// Returns the error for a value that is neither the name of a variant nor an object with a variant as its only member.
    #[cold]
    pub(super) fn no_variant(value: Raw<'_>, variants: &[&str]) -> Self {
        let expected = one_of(variants);
        let text = shown(value.as_str());
        Self::custom(match value.kind() {
            JsonKind::Object => {
                let count = value.members().count();
                format!("an object with {count} members, expected {expected}")
            }
            JsonKind::Array => format!("invalid type: array, expected {expected}"),
            _ => format!("invalid type: `{text}`, expected {expected}"),
        })
    }

    fn mismatch(found: &str, expected: &dyn Expected) -> Self {
        Self::new(Reason::Mismatch(format!("invalid type: {found}, expected {expected}")))
    }

    /// Whether a single value caused the error, and not a type that has read all of its members before.
    pub(super) fn is_of_value(&self) -> bool {
        matches!(
            self.0.reason,
            Reason::Mismatch(_) | Reason::UnknownVariant(..) | Reason::NameAlone
        )
    }

    /// Whether the code of a type caused the error, about a single value or about several members together.
    pub(super) fn is_custom(&self) -> bool {
        matches!(self.0.reason, Reason::Other(_))
    }

    /// Returns the index of the value whose mark caused the error.
    pub(super) fn mark(&self) -> Option<usize> {
        match &self.0.reason {
            Reason::Mark(at) => Some(*at),
            Reason::UnknownVariant(name, _) => {
                name.strip_prefix(char::REPLACEMENT_CHARACTER)?.parse().ok()
            }
            _ => None,
        }
    }

    /// Returns the value inside `raw` that the path of the error leads to.
    pub(super) fn value_in<'a>(&self, raw: Raw<'a>) -> Option<Raw<'a>> {
        self.0.steps.iter().rev().try_fold(raw, |value, step| match step {
            Step::Member(name) => {
                value.members().find(|member| member.0 == *name).map(|member| member.1)
            }
            Step::Element(index) => value.elements().nth(*index),
        })
    }

    /// Adds a step from the value of the error to a value inside it.
    pub(super) fn at_inner(mut self, step: Step) -> Self {
        self.0.steps.insert(0, step);
        self
    }

    /// Adds the step that leads to the value at which the reading failed.
    #[cold]
    pub(super) fn inside(mut self, step: Step) -> Self {
        self.0.steps.push(step);
        self
    }

    /// Adds the text that a type has refused, unless its error shows the text. Parsers of dates and the like report only a position.
    #[cold]
    pub(super) fn of_text(mut self, text: &str) -> Self {
        if let Reason::Other(message) | Reason::Mismatch(message) = &mut self.0.reason
            && self.0.steps.is_empty()
            && !message.contains(&format!("{text:?}"))
            && !message.contains(&format!("`{text}`"))
        {
            *message = format!("`{}` is not valid: {message}", shown(text));
        }
        self
    }

    /// Describes an error of reading the name of a variant, if the variant has content.
    pub(super) fn of_name_alone(self, variant: &str) -> Self {
        match self.0.reason {
            Reason::NameAlone => Self::custom(format_args!(
                "`{0}` alone is not enough, expected an object such as {{\"{0}\": …}}",
                shown(variant)
            )),
            _ => self,
        }
    }

    /// Returns the name of the missing field, if a missing field caused the error.
    pub(super) fn missing_field_name(&self) -> Option<&'static str> {
        match self.0.reason {
            Reason::MissingField(field) => Some(field),
            _ => None,
        }
    }

    /// Returns the member of the outermost object in which the reading failed.
    pub(crate) fn outermost_member(&self) -> Option<&str> {
        match self.0.steps.last()? {
            Step::Member(name) => Some(name),
            Step::Element(_) => None,
        }
    }

    /// Describes the error to clients. `base` is the name of the argument, or empty if the members of the value are arguments.
    pub(crate) fn describe(&self, base: &str) -> String {
        let path = path(base, self.0.steps.iter().rev());
        if let Reason::UnknownField(name, fields) = &self.0.reason {
            let path = self::path(&path, [Step::Member(name.clone())].iter());
            return unknown_argument(&path, name, fields);
        }
        match &*path {
            "" => self.to_string(),
            path => format!("`{}`: {self}", shown(path)),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.reason {
            Reason::Other(text) | Reason::Mismatch(text) => f.write_str(&wording(text)),
            Reason::Mark(_) => f.write_str("a mark"),
            Reason::MissingField(field) => write!(f, "missing field `{field}`"),
            Reason::UnknownField(name, fields) => {
                f.write_str(&unknown_argument(name, name, fields))
            }
            Reason::UnknownVariant(name, variants) => unknown_variant(f, shown(name), variants),
            Reason::NameAlone => f.write_str("the content of the variant is missing"),
        }
    }
}

/// Describes a name that is no variant of an enum.
fn unknown_variant(f: &mut fmt::Formatter<'_>, name: &str, variants: &[&str]) -> fmt::Result {
    match nearest(name, variants.iter().copied()) {
        _ if variants.is_empty() => write!(f, "unknown variant `{name}`, there are no variants"),
        Some(near) => write!(
            f,
            "unknown variant `{name}`; did you mean `{near}`? Expected {}",
            one_of(variants)
        ),
        None => write!(f, "unknown variant `{name}`, expected {}", one_of(variants)),
    }
}

/// Lists names, such as "`a` or `b`".
fn one_of(names: &[&str]) -> String {
    match names {
        [first, second] => format!("`{first}` or `{second}`"),
        [only] => format!("`{only}`"),
        names => {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("one of {}", names.join(", "))
        }
    }
}

impl std::error::Error for ReadError {}

/// Returns the mark of the value at an index: bytes that are not UTF-8, because some types also accept a text as bytes. No JSON text gives
/// such bytes to a type.
pub(super) fn mark(at: usize) -> Vec<u8> {
    [b"\xff", at.to_string().as_bytes()].concat()
}

/// Returns the reason of an error about a mark.
fn marked(unexpected: &Unexpected<'_>) -> Option<Reason> {
    let Unexpected::Bytes(bytes) = unexpected else { return None };
    let index = std::str::from_utf8(bytes.strip_prefix(b"\xff")?).ok()?;
    index.parse().ok().map(Reason::Mark)
}

impl de::Error for ReadError {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Reason::Other(format!("{message:#}")))
    }

    #[cold]
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        match unexpected {
            Unexpected::UnitVariant => Self::new(Reason::NameAlone),
            Unexpected::Unit => Self::mismatch("null", expected),
            Unexpected::Seq => Self::mismatch("array", expected),
            Unexpected::Map => Self::mismatch("object", expected),
            other => Self::new(marked(&other).unwrap_or_else(|| {
                Reason::Mismatch(format!("invalid type: {other}, expected {expected}"))
            })),
        }
    }

    #[cold]
    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(marked(&unexpected).unwrap_or_else(|| {
            Reason::Mismatch(format!("invalid value: {unexpected}, expected {expected}"))
        }))
    }

    #[cold]
    fn missing_field(field: &'static str) -> Self {
        Self::new(Reason::MissingField(field))
    }

    #[cold]
    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Reason::UnknownField(field.to_owned(), expected))
    }

    #[cold]
    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Reason::UnknownVariant(variant.to_owned(), expected))
    }
}

impl From<serde_json::Error> for ReadError {
    /// Leaves out the position, because it counts from the start of a value that the client never saw as a text of its own.
    fn from(error: serde_json::Error) -> Self {
        let text = error.to_string();
        let position = format!(" at line {} column {}", error.line(), error.column());
        Self::custom(text.strip_suffix(&position).unwrap_or(&text))
    }
}

/// Rewords an error of serde for clients: replaces Rust types with JSON types.
fn wording(text: &str) -> String {
    let Some((before, expected)) = text.rsplit_once("expected ") else { return text.to_owned() };
    let expected = json_type(expected);
    // `before` contains the rejected value, which may be long.
    match shown(before) {
        all if all.len() == before.len() => format!("{before}expected {expected}"),
        start => format!("{start}…, expected {expected}"),
    }
}

/// Returns the JSON type that clients send for a Rust type, which is described as serde does.
fn json_type(expected: &str) -> Cow<'_, str> {
    if let Some(integer) = expected.strip_prefix("a nonzero ") {
        return format!("{} other than 0", json_type(integer)).into();
    }
    // The names of structs and variants follow.
    let starts = |kinds: &[&str]| kinds.iter().any(|kind| expected.starts_with(kind));
    Cow::Borrowed(match expected {
        "i8" => "an integer from -128 to 127",
        "u8" => "an integer from 0 to 255",
        "i16" => "an integer from -32768 to 32767",
        "u16" => "an integer from 0 to 65535",
        "i32" | "i64" | "isize" | "i128" => "an integer",
        "u32" | "u64" | "usize" | "u128" => "an integer that is not negative",
        "f32" | "f64" => "a number",
        "a sequence" => "an array",
        "a map" => "an object",
        "unit" => "null",
        _ if starts(&["unit struct ", "unit variant "]) => "null",
        _ if starts(&["tuple struct ", "tuple variant ", "a tuple of size "]) => {
            return match expected.split(' ').find_map(|word| word.parse::<usize>().ok()) {
                Some(len) => format!("an array of {len}").into(),
                None => "an array".into(),
            };
        }
        _ if starts(&["struct ", "internally tagged enum ", "adjacently tagged enum "]) => {
            "an object"
        }
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::{ReadError, de::Error as _};

    #[test]
    fn errors_name_types_of_json() {
        fn check(error: &str, expected: &str) {
            assert_eq!(ReadError::custom(error).to_string(), expected);
        }
        for (rust, json) in [
            ("i8", "an integer from -128 to 127"),
            ("usize", "an integer that is not negative"),
            ("a nonzero u8", "an integer from 0 to 255 other than 0"),
            ("struct Point", "an object"),
            ("struct Point with 2 elements", "an object"),
            ("struct variant Shape::Circle", "an object"),
            ("internally tagged enum Shape", "an object"),
            ("tuple struct Pair with 2 elements", "an array of 2"),
            ("a tuple of size 3", "an array of 3"),
            ("tuple variant Shape::Line", "an array"),
            ("unit", "null"),
            ("a string", "a string"),
        ] {
            check(
                &format!("invalid type: null, expected {rust}"),
                &format!("invalid type: null, expected {json}"),
            );
        }
        check("no date", "no date");
        check(
            "invalid type: string \"at line 7\", expected u8",
            "invalid type: string \"at line 7\", expected an integer from 0 to 255",
        );
    }

    #[test]
    fn a_long_value_is_cut() {
        let error = format!("invalid type: string \"{}\", expected u8", "x".repeat(500));
        let text = ReadError::custom(error).to_string();
        assert!(
            text.len() < 200 && text.ends_with("…, expected an integer from 0 to 255"),
            "{text}"
        );
    }
}
