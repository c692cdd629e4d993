//! Writes the member `description` of a schema at compile time: the doc comment, the documented names of an enum, and the sentences that
//! replace keywords.

use super::{
    facts::are_alike,
    node::{Name, Node, NodeShape},
};
use crate::schema::{
    SchemaSide,
    const_text::{KeywordWriter, Out},
    sentences::{format_in_words, is_published_format},
};

/// Texts that make up the description of a schema.
pub(super) struct Description<'a> {
    pub(super) text: Option<&'static str>,
    pub(super) names: &'static [Name],
    pub(super) format: Option<&'static str>,
    pub(super) parts: Option<&'static [Node]>,
    pub(super) unique: bool,
    pub(super) example: Option<&'a str>,
    /// Whether sentences replace keywords, as in an argument.
    pub(super) in_words: bool,
}

/// Writer of a description. The first text that is written opens the keyword `description`.
struct DescriptionWriter<'a, 'b> {
    out: &'a mut Out<'b>,
    object: &'a mut KeywordWriter,
    is_open: bool,
    /// Whether a sentence has been written.
    goes_on: bool,
}

impl DescriptionWriter<'_, '_> {
    const fn begin(&mut self, gap: &str) {
        if self.is_open {
            self.out.push(gap);
        } else {
            self.object.key(self.out, "description");
            self.out.push("\"");
        }
        self.is_open = true;
    }

    /// Begins a sentence in the last paragraph, which contains all sentences.
    const fn sentence(&mut self, beginning: &str) {
        self.begin(if self.goes_on { " " } else { "\\n\\n" });
        self.goes_on = true;
        self.out.escaped(beginning);
    }
}

impl Description<'_> {
    /// Writes the text, then a line for each name that has a description, and finally the sentences that replace other keywords.
    pub(super) const fn write(&self, out: &mut Out<'_>, object: &mut KeywordWriter) {
        let mut text = DescriptionWriter { out, object, is_open: false, goes_on: false };
        if let Some(said) = self.text
            && !said.is_empty()
        {
            text.begin("");
            text.out.escaped(said);
        }
        let mut gap = if text.is_open { "\\n\\n" } else { "" };
        let mut i = 0;
        while i < self.names.len() {
            if let Some(line) = self.names[i].description {
                text.begin(gap);
                gap = "\\n";
                text.out.push("- `");
                text.out.escaped(self.names[i].name);
                text.out.push("`: ");
                text.out.escaped(line);
            }
            i += 1;
        }
        if self.in_words {
            self.sentences(&mut text);
        }
        if text.is_open {
            text.out.push("\"");
        }
    }

    /// Writes the sentences, in the order of the rules of the compatible form.
    const fn sentences(&self, text: &mut DescriptionWriter<'_, '_>) {
        if let Some(name) = self.format
            && !is_published_format(name, SchemaSide::Argument)
        {
            match format_in_words(name) {
                Some(sentence) => text.sentence(sentence),
                None => {
                    text.sentence("In the format `");
                    text.out.escaped(name);
                    text.out.push("`.");
                }
            }
        }
        if let Some(parts) = self.parts
            && !are_alike(parts)
        {
            text.sentence("In this order: ");
            let mut first = true;
            let mut i = 0;
            while i < parts.len() {
                if !first {
                    text.out.push(", ");
                }
                first = false;
                text.out.push(word(&parts[i]));
                if parts[i].is_typed_or_null() {
                    text.out.push(" or null");
                }
                i += 1;
            }
            text.out.push(".");
        }
        if self.unique {
            text.sentence("No value twice.");
        }
        if let Some(json) = self.example {
            text.sentence("For example `");
            match json.as_bytes() {
                // The example is a JSON string, whose content is escaped already.
                [b'"', .., b'"'] => {
                    let (_, inner) = json.split_at(1);
                    let (inner, _) = inner.split_at(inner.len() - 1);
                    text.out.push(inner);
                }
                _ => text.out.escaped(json),
            }
            text.out.push("`.");
        }
    }
}

/// Returns the `type` of a part, or `anything` if it has none.
const fn word(part: &Node) -> &'static str {
    match part.shape {
        NodeShape::Optional(inner) if inner.takes_null() || part.is_typed_or_null() => word(inner),
        NodeShape::Boolean => "boolean",
        NodeShape::Null => "null",
        NodeShape::Number => "number",
        NodeShape::Integer { .. } => "integer",
        NodeShape::Text { .. } | NodeShape::Names { .. } => "string",
        NodeShape::Array { .. } | NodeShape::Tuple(_) => "array",
        NodeShape::Map(_) | NodeShape::Object(_) | NodeShape::Tagged { .. } => "object",
        NodeShape::Any
        | NodeShape::Optional(_)
        | NodeShape::OneOf(_)
        | NodeShape::Unknown(_)
        | NodeShape::TooDeep => "anything",
    }
}
