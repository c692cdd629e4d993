//! Constraints on a value beyond its type: bounds, lengths and a pattern. The server writes the constraints into the schema, and checks the
//! arguments of each call. A test verifies that the schema and the check agree.
//!
//! As in JSON Schema, each constraint applies only to values of its own types: bounds to numbers, a pattern to strings, a length to
//! strings, arrays and objects. A `null` satisfies every constraint. The length of a text counts characters (code points). A pattern may
//! match anywhere in the text unless it is anchored.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::json;

use super::{
    Map, SchemaKind,
    definitions::conjoin,
    pattern::{CompiledPattern, Pattern},
    range::{Range, shortened},
};

/// The constraints of one argument. They are part of a `static`, so they have setters instead of builder methods: a `const fn` cannot
/// replace a field that has a destructor.
#[derive(Debug, Default)]
pub(crate) struct Constraints {
    range: Option<Range>,
    least: Option<usize>,
    most: Option<usize>,
    pattern: Option<Pattern>,
}

impl Constraints {
    pub(crate) const fn new() -> Self {
        Self { range: None, least: None, most: None, pattern: None }
    }

    pub(crate) const fn set_range(&mut self, range: Range) {
        self.range = Some(range);
    }

    /// Sets the bounds of a length, both inclusive.
    pub(crate) const fn set_len(&mut self, least: Option<usize>, most: Option<usize>) {
        self.least = least;
        self.most = most;
    }

    pub(crate) const fn set_pattern(
        &mut self,
        text: &'static str,
        regex: &'static CompiledPattern,
    ) {
        self.pattern = Some(Pattern::new(text, regex));
    }

    pub(crate) const fn range(&self) -> Option<&Range> {
        self.range.as_ref()
    }

    /// Returns the minimum and the maximum length.
    pub(crate) const fn len(&self) -> (Option<usize>, Option<usize>) {
        (self.least, self.most)
    }

    /// Returns the pattern if clients interpret it as the server does.
    pub(crate) const fn published_pattern(&self) -> Option<&'static str> {
        match self.pattern {
            Some(pattern) if pattern.is_portable() => Some(pattern.text),
            _ => None,
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.range.is_none()
            && self.least.is_none()
            && self.most.is_none()
            && self.pattern.is_none()
    }

    /// Writes the constraints into `schema`. If the schema has bounds already, such as those of `u8`, the tighter ones stay.
    ///
    /// A pattern that JavaScript rejects or interprets differently is checked but not published, because a client that cannot compile a
    /// pattern drops the tool.
    pub(crate) fn apply(&self, schema: &mut Map, kind: SchemaKind) {
        if let Some(range) = &self.range {
            range.apply(schema, kind);
        }
        let mut written = Map::new();
        let lengths: &[_] = match kind {
            SchemaKind::String => &[("minLength", "maxLength")],
            SchemaKind::Array => &[("minItems", "maxItems")],
            SchemaKind::Object => &[("minProperties", "maxProperties")],
            SchemaKind::Other => &[
                ("minLength", "maxLength"),
                ("minItems", "maxItems"),
                ("minProperties", "maxProperties"),
            ],
            SchemaKind::Integer | SchemaKind::Number | SchemaKind::Boolean => &[],
        };
        for (least, most) in lengths {
            written.extend(self.least.map(|length| ((*least).to_owned(), json!(length))));
            written.extend(self.most.map(|length| ((*most).to_owned(), json!(length))));
        }
        if let Some(pattern) = self.published_pattern() {
            written.insert("pattern".into(), pattern.into());
        }
        *schema = conjoin(std::mem::take(schema), written);
    }

    /// Returns a phrase about the first constraint that can never apply to a value of this kind. The phrase advises the author to remove
    /// the constraint.
    pub(crate) const fn misplaced(&self, kind: SchemaKind) -> Option<&'static str> {
        let measured = matches!(
            kind,
            SchemaKind::String | SchemaKind::Array | SchemaKind::Object | SchemaKind::Other
        );
        if self.range.is_some()
            && !matches!(kind, SchemaKind::Integer | SchemaKind::Number | SchemaKind::Other)
        {
            Some("a range applies only to numbers: remove `range`")
        } else if (self.least.is_some() || self.most.is_some()) && !measured {
            Some("a length applies only to text, lists and maps: remove `len`")
        } else if self.pattern.is_some() && !matches!(kind, SchemaKind::String | SchemaKind::Other)
        {
            Some("a pattern applies only to text: remove `pattern`")
        } else {
            None
        }
    }

    /// Checks the JSON text of an argument. Returns `None` if the argument is valid, and otherwise a phrase with the actual and the
    /// expected value, such as `11 is not in 1..=10` or `3 characters, at most 2`. Text that is not JSON passes, because deserialization
    /// reports it with a better message.
    pub(crate) fn check(&self, json_text: &str) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let text = json_text.trim_matches([' ', '\t', '\n', '\r']);
        match text.as_bytes().first()? {
            b'"' if self.least.is_some() || self.most.is_some() || self.pattern.is_some() => {
                let string: Cow<'_, str> = JsonStringVisitor::read(text)?;
                self.check_string(&string)
            }
            b'[' => self.check_length("element", elements(text)?),
            b'{' => self.check_length("entry", entries(text)?),
            b'-' | b'0'..=b'9' => self.range.as_ref()?.check(text),
            _ => None,
        }
    }

    /// Checks an argument of a prompt or a URI template, which always arrives as text. A range applies to text that can be read as a
    /// number. A length and a pattern apply to the text itself.
    pub(crate) fn check_text(&self, text: &str) -> Option<String> {
        match &self.range {
            Some(range) => range.check(text).or_else(|| self.check_string(text)),
            None => self.check_string(text),
        }
    }

    fn check_string(&self, string: &str) -> Option<String> {
        if (self.least.is_some() || self.most.is_some())
            && let Some(wrong) = self.check_length("character", string.chars().count())
        {
            return Some(wrong);
        }
        let pattern = self.pattern.filter(|pattern| !pattern.matches(string))?;
        let string = json!(string).to_string();
        Some(format!("{} does not match {}", shortened(&string), pattern.text))
    }

    fn check_length(&self, unit: &str, length: usize) -> Option<String> {
        let expected = match (self.least, self.most) {
            (Some(least), Some(most)) if least == most && length != least => {
                format!("exactly {least}")
            }
            (Some(least), _) if length < least => format!("at least {least}"),
            (_, Some(most)) if length > most => format!("at most {most}"),
            _ => return None,
        };
        let unit = match (length, unit) {
            (1, unit) => unit.to_owned(),
            (_, "entry") => "entries".to_owned(),
            (_, unit) => format!("{unit}s"),
        };
        Some(format!("{length} {unit}, {expected}"))
    }
}

/// Visitor that reads a JSON string. The result is borrowed if the string has no escapes.
struct JsonStringVisitor;

impl JsonStringVisitor {
    fn read(json_text: &str) -> Option<Cow<'_, str>> {
        let mut reader = serde_json::Deserializer::from_str(json_text);
        let text = reader.deserialize_str(Self).ok()?;
        reader.end().ok()?;
        Some(text)
    }
}

impl<'de> Visitor<'de> for JsonStringVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

/// Visitor that counts the elements of an array or the members of an object.
struct LengthVisitor;

impl<'de> Visitor<'de> for LengthVisitor {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<usize, A::Error> {
        let mut count = 0;
        while elements.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<usize, A::Error> {
        let mut names = BTreeSet::new();
        while let Some((name, IgnoredAny)) = entries.next_entry::<String, _>()? {
            names.insert(name);
        }
        Ok(names.len())
    }
}

fn elements(json_text: &str) -> Option<usize> {
    serde_json::Deserializer::from_str(json_text).deserialize_seq(LengthVisitor).ok()
}

fn entries(json_text: &str) -> Option<usize> {
    serde_json::Deserializer::from_str(json_text).deserialize_map(LengthVisitor).ok()
}

#[cfg(test)]
mod tests;
