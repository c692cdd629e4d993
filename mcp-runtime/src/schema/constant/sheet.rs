//! Writes a node as text. The keywords are collected first and then written in alphabetical order, which is the order of serde_json's
//! objects.

mod choice;
mod description;
mod lengths;
mod members;
mod object;

use choice::{Choice, only};
use lengths::Lengths;
use members::Members;

use super::{
    alike::{are_alike, is_first},
    node::{Name, Node, Object, What},
    notes::{Default, Notes},
    write::Out,
};
use crate::schema::{
    Constraints, Edge, Kind,
    compatible::{Side, format},
};

/// Keywords of a schema before they are written.
#[derive(Clone, Copy)]
struct Sheet {
    kind: Option<&'static str>,
    elements: Option<&'static Node>,
    values: Option<&'static Node>,
    parts: Option<&'static [Node]>,
    unique: bool,
    object: Option<&'static Object>,
    tag: Option<(&'static str, &'static str)>,
    names: &'static [Name],
    choice: Choice,
    description: Option<&'static str>,
    format: Option<&'static str>,
    least: Edge,
    most: Edge,
    items: Lengths,
    characters: Lengths,
    entries: Lengths,
    pattern: Option<&'static str>,
}

pub(crate) const fn write(out: &mut Out<'_>, node: &Node, side: Side, notes: &Notes<'_>) {
    if let What::Optional(inner) = node.what
        && (matches!(side, Side::Argument) || inner.takes_null())
    {
        return write(out, inner, side, notes);
    }
    // The rule about `null` does the same: it replaces a choice by its only branch beside `null`.
    if let (What::OneOf(branches), Side::Argument) = (node.what, side)
        && let Some(only) = only(branches)
    {
        let description = match (notes.description, node.description) {
            (Some(text), _) | (None, Some(text)) => Some(text),
            (None, None) => only.description,
        };
        return write(out, &only.node, side, &Notes { description, ..*notes });
    }
    let mut sheet = Sheet::of(node);
    if let Some(text) = notes.description {
        sheet.description = Some(text);
    }
    if let Some(constraints) = notes.constraints {
        sheet.constrain(node.kind(), constraints);
    }
    sheet.write(out, side, notes);
}

/// Writes the root of a result. It says `object` if every result is one, because clients look for that word.
pub(crate) const fn write_root(out: &mut Out<'_>, node: &Node) {
    if !node.is_json_object() {
        return write(out, node, Side::Result, &Notes::NONE);
    }
    let mut sheet = Sheet::of(node);
    sheet.kind = Some("object");
    sheet.write(out, Side::Result, &Notes::NONE);
}

impl Sheet {
    const NEW: Self = Self {
        kind: None,
        elements: None,
        values: None,
        parts: None,
        unique: false,
        object: None,
        tag: None,
        names: &[],
        choice: Choice::None,
        description: None,
        format: None,
        least: Edge::None,
        most: Edge::None,
        items: Lengths::NONE,
        characters: Lengths::NONE,
        entries: Lengths::NONE,
        pattern: None,
    };

    const fn of(node: &Node) -> Self {
        let mut it = Self::NEW;
        it.description = node.description;
        match node.what {
            What::Boolean => it.kind = Some("boolean"),
            What::Null => it.kind = Some("null"),
            What::Number => it.kind = Some("number"),
            What::Integer { least, most } => {
                it.kind = Some("integer");
                it.least = Edge::at(least);
                it.most = Edge::at(most);
            }
            What::Text { format, least, most } => {
                it.kind = Some("string");
                it.format = format;
                it.characters = Lengths { least, most };
            }
            What::Names { names, .. } => {
                it.kind = Some("string");
                it.names = names;
            }
            What::Array { items, least, most, unique } => {
                it.kind = Some("array");
                it.elements = Some(items);
                it.items = Lengths { least, most };
                it.unique = unique;
            }
            What::Tuple(parts) => {
                it.kind = Some("array");
                it.parts = Some(parts);
                it.items = Lengths { least: Some(parts.len()), most: Some(parts.len()) };
            }
            What::Map(values) => {
                it.kind = Some("object");
                it.values = Some(values);
            }
            What::Object(object) => {
                it.kind = Some("object");
                it.object = Some(object);
            }
            What::Tagged { tag, name, object } => {
                it.kind = Some("object");
                it.object = Some(object);
                it.tag = Some((tag, name));
            }
            What::Optional(inner) => it.choice = Choice::OrNull(inner),
            What::Any | What::Unknown(_) | What::TooDeep => it.choice = Choice::Any,
            What::OneOf(branches) => it.choice = Choice::Of(branches),
        }
        it
    }

    /// Adds constraints. The tighter bounds stay, as in [`Constraints::apply`].
    const fn constrain(&mut self, kind: Kind, constraints: &Constraints) {
        let lengths = constraints.len();
        let lengths = Lengths { least: lengths.0, most: lengths.1 };
        match kind {
            Kind::String => self.characters = self.characters.tighter(lengths),
            Kind::Array => self.items = self.items.tighter(lengths),
            Kind::Object => self.entries = self.entries.tighter(lengths),
            Kind::Integer | Kind::Number => {
                if let Some(range) = constraints.range() {
                    let whole = matches!(kind, Kind::Integer);
                    let (least, most) = range.edges(whole);
                    self.least = self.least.greater(least);
                    self.most = self.most.smaller(most);
                }
            }
            _ => {}
        }
        self.pattern = constraints.published_pattern();
    }

    const fn write(&self, out: &mut Out<'_>, side: Side, notes: &Notes<'_>) {
        let mut object = Members::new();
        let in_words = matches!(side, Side::Argument) && !notes.in_keywords;
        out.push("{");
        self.additional(out, &mut object, side);
        self.choice.write(out, &mut object, side);
        match notes.default {
            Default::Null if matches!(side, Side::Argument) => {}
            Default::Null => object.raw(out, "default", "null"),
            Default::Json(json) => object.raw(out, "default", json),
            Default::Text(text) => object.text(out, "default", text),
            Default::None | Default::Unknown => {}
        }
        self.described(out, &mut object, in_words, notes.example);
        if !self.names.is_empty() {
            object.key(out, "enum");
            out.push("[");
            let mut first = true;
            let mut i = 0;
            while i < self.names.len() {
                out.comma(&mut first);
                out.string(self.names[i].name);
                i += 1;
            }
            out.push("]");
        }
        if let Some(json) = notes.example
            && !in_words
        {
            object.key(out, "examples");
            out.push("[");
            out.push(json);
            out.push("]");
        }
        if let Some(name) = self.format
            && (notes.in_keywords || format::is_published(name, side))
        {
            object.text(out, "format", name);
        }
        self.items(out, &mut object, side, in_words);
        object.number(out, "maxItems", self.items.most);
        object.number(out, "maxLength", self.characters.most);
        object.number(out, "maxProperties", self.entries.most);
        object.edge(out, "maximum", self.most);
        object.number(out, "minItems", self.items.least);
        object.number(out, "minLength", self.characters.least);
        object.number(out, "minProperties", self.entries.least);
        object.edge(out, "minimum", self.least);
        if let Some(pattern) = self.pattern {
            object.text(out, "pattern", pattern);
        }
        if let Some(parts) = self.parts
            && !in_words
        {
            object.key(out, "prefixItems");
            out.push("[");
            let mut first = true;
            let mut i = 0;
            while i < parts.len() {
                out.comma(&mut first);
                write(out, &parts[i], side, &Notes::NONE);
                i += 1;
            }
            out.push("]");
        }
        if let Some(it) = self.object {
            it.properties(out, &mut object, side, self.tag);
        }
        if let Some(title) = notes.title {
            object.text(out, "title", title);
        }
        if let Some(kind) = self.kind {
            object.text(out, "type", kind);
        }
        if self.unique && !in_words {
            object.raw(out, "uniqueItems", "true");
        }
        if let Some(header) = notes.header {
            object.text(out, crate::schema::header::KEYWORD, header);
        }
        out.push("}");
    }

    const fn additional(&self, out: &mut Out<'_>, object: &mut Members, side: Side) {
        match self.values {
            // A newtype around `Value` has a name for schemars, so it is spelled out below.
            Some(values) if values.is_anything() => {
                if let Side::Argument = side {
                    object.key(out, "additionalProperties");
                    choice::any_member(out);
                }
            }
            Some(values) => {
                object.key(out, "additionalProperties");
                write(out, values, side, &Notes::NONE);
            }
            None => {}
        }
    }

    const fn items(&self, out: &mut Out<'_>, object: &mut Members, side: Side, in_words: bool) {
        match (self.parts, self.elements) {
            (Some(parts), _) if in_words => {
                object.key(out, "items");
                if are_alike(parts) {
                    return write(out, &parts[0], side, &Notes::NONE);
                }
                out.push(r#"{"anyOf":["#);
                let mut first = true;
                let mut i = 0;
                while i < parts.len() {
                    if is_first(parts, i) {
                        out.comma(&mut first);
                        write(out, &parts[i], side, &Notes::NONE);
                    }
                    i += 1;
                }
                out.push("]}");
            }
            (_, Some(items)) => {
                object.key(out, "items");
                write(out, items, side, &Notes::NONE);
            }
            _ => {}
        }
    }
}
