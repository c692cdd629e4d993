//! Renders a [`Node`], which describes a type, as the JSON text of the type's schema. The keywords are collected first and then written in
//! alphabetical order, which is the order of serde_json's objects.

use super::{
    description::Description,
    facts::{are_alike, are_null, is_first, only_branch},
    node::{Branch, Name, Node, NodeShape, Object},
    notes::{Notes, SchemaDefault},
    std_types::{any_value_of, branches_of_any_value},
};
use crate::schema::{
    Constraints, SchemaKind, SchemaSide,
    compatible::LIST_LEVELS,
    const_text::{KeywordWriter, Out, is_before},
    header,
    range::Edge,
    sentences::is_published_format,
};

/// Keywords of a schema before they are written.
#[derive(Clone, Copy)]
struct SchemaKeywords {
    kind: Option<&'static str>,
    elements: Option<&'static Node>,
    values: Option<&'static Node>,
    parts: Option<&'static [Node]>,
    unique: bool,
    object: Option<&'static Object>,
    tag: Option<(&'static str, &'static str)>,
    names: &'static [Name],
    choice: AnyOfKeyword,
    description: Option<&'static str>,
    format: Option<&'static str>,
    least: Edge,
    most: Edge,
    items: Lengths,
    characters: Lengths,
    entries: Lengths,
    pattern: Option<&'static str>,
}

/// A choice between schemas: `anyOf`.
#[derive(Clone, Copy)]
enum AnyOfKeyword {
    None,
    OrNull(&'static Node),
    Any,
    Of(&'static [Branch]),
}

/// Bounds for the lengths of texts, lists and objects.
#[derive(Clone, Copy)]
struct Lengths {
    least: Option<usize>,
    most: Option<usize>,
}

impl Lengths {
    const NONE: Self = Self { least: None, most: None };

    /// Returns the tighter lower bound and the tighter upper bound of the two.
    const fn tighter(self, other: Self) -> Self {
        let (a, b) = (self, other);
        Self {
            least: match (a.least, b.least) {
                (Some(a), Some(b)) => Some(if a > b { a } else { b }),
                (Some(bound), None) | (None, Some(bound)) => Some(bound),
                (None, None) => None,
            },
            most: match (a.most, b.most) {
                (Some(a), Some(b)) => Some(if a < b { a } else { b }),
                (Some(bound), None) | (None, Some(bound)) => Some(bound),
                (None, None) => None,
            },
        }
    }
}

/// Writes the schema of a node, with the notes on the argument or member that has this type.
pub(crate) const fn write(out: &mut Out<'_>, node: &Node, side: SchemaSide, notes: &Notes<'_>) {
    if let NodeShape::Optional(inner) = node.shape
        && (omits_null(side, notes) || inner.takes_null())
    {
        return write(out, inner, side, notes);
    }
    // As with the rules "single schema" and "null", a choice with only one branch, or with one beside `null`, is replaced with that branch.
    if let NodeShape::OneOf(branches) = node.shape
        && let Some(only) = only_branch(branches, side, omits_null(side, notes))
    {
        let description = match (notes.description, node.description) {
            (Some(text), _) | (None, Some(text)) => Some(text),
            (None, None) => only.description,
        };
        return write(out, &only.node, side, &Notes { description, ..*notes });
    }
    let mut keywords = SchemaKeywords::of(node);
    if let Some(text) = notes.description {
        keywords.description = Some(text);
    }
    if let Some(constraints) = notes.constraints {
        keywords.constrain(node.kind(), constraints);
    }
    keywords.write(out, side, notes);
}

/// Whether the schema of an argument has no `null`, because a client can leave the argument out.
const fn omits_null(side: SchemaSide, notes: &Notes<'_>) -> bool {
    matches!(side, SchemaSide::Argument) && notes.can_be_absent
}

/// Writes the root schema of a result. If every result is an object, the root gets the type `object`, because clients look for this type.
pub(crate) const fn write_root(out: &mut Out<'_>, node: &Node) {
    if !node.is_json_object() {
        return write(out, node, SchemaSide::Result, &Notes::NONE);
    }
    let mut keywords = SchemaKeywords::of(node);
    keywords.kind = Some("object");
    keywords.write(out, SchemaSide::Result, &Notes::NONE);
}

impl SchemaKeywords {
    const NEW: Self = Self {
        kind: None,
        elements: None,
        values: None,
        parts: None,
        unique: false,
        object: None,
        tag: None,
        names: &[],
        choice: AnyOfKeyword::None,
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
        let mut keywords = Self::NEW;
        keywords.description = node.description;
        match node.shape {
            NodeShape::Boolean => keywords.kind = Some("boolean"),
            NodeShape::Null => keywords.kind = Some("null"),
            NodeShape::Number => keywords.kind = Some("number"),
            NodeShape::Integer { least, most } => {
                keywords.kind = Some("integer");
                keywords.least = Edge::at(least);
                keywords.most = Edge::at(most);
            }
            NodeShape::Text { format, least, most } => {
                keywords.kind = Some("string");
                keywords.format = format;
                keywords.characters = Lengths { least, most };
            }
            NodeShape::Names { names, .. } => {
                keywords.kind = Some("string");
                keywords.names = names;
            }
            NodeShape::Array { items, least, most, unique } => {
                keywords.kind = Some("array");
                keywords.elements = Some(items);
                keywords.items = Lengths { least, most };
                keywords.unique = unique;
            }
            NodeShape::Tuple(parts) => {
                keywords.kind = Some("array");
                keywords.parts = Some(parts);
                keywords.items = Lengths { least: Some(parts.len()), most: Some(parts.len()) };
            }
            NodeShape::Map(values) => {
                keywords.kind = Some("object");
                keywords.values = Some(values);
            }
            NodeShape::Object(object) => {
                keywords.kind = Some("object");
                keywords.object = Some(object);
            }
            NodeShape::Tagged { tag, name, object } => {
                keywords.kind = Some("object");
                keywords.object = Some(object);
                keywords.tag = Some((tag, name));
            }
            NodeShape::Optional(inner) => keywords.choice = AnyOfKeyword::OrNull(inner),
            NodeShape::Any | NodeShape::Unknown(_) | NodeShape::TooDeep => {
                keywords.choice = AnyOfKeyword::Any
            }
            NodeShape::OneOf(branches) => keywords.choice = AnyOfKeyword::Of(branches),
        }
        keywords
    }

    /// Adds constraints. Of two bounds, the tighter one stays, as in [`Constraints::apply`].
    const fn constrain(&mut self, kind: SchemaKind, constraints: &Constraints) {
        let lengths = constraints.len();
        let lengths = Lengths { least: lengths.0, most: lengths.1 };
        match kind {
            SchemaKind::String => self.characters = self.characters.tighter(lengths),
            SchemaKind::Array => self.items = self.items.tighter(lengths),
            SchemaKind::Object => self.entries = self.entries.tighter(lengths),
            SchemaKind::Integer | SchemaKind::Number => {
                if let Some(range) = constraints.range() {
                    let whole = matches!(kind, SchemaKind::Integer);
                    let (least, most) = range.edges(whole);
                    self.least = self.least.greater(least);
                    self.most = self.most.smaller(most);
                }
            }
            _ => {}
        }
        self.pattern = constraints.published_pattern();
    }

    const fn write(&self, out: &mut Out<'_>, side: SchemaSide, notes: &Notes<'_>) {
        let mut object = KeywordWriter::new();
        let in_words = matches!(side, SchemaSide::Argument) && !notes.in_keywords;
        out.push("{");
        self.additional(out, &mut object, side);
        self.choice.write(out, &mut object, side, omits_null(side, notes));
        match notes.default {
            SchemaDefault::Null if matches!(side, SchemaSide::Argument) => {}
            SchemaDefault::Null => object.raw(out, "default", "null"),
            SchemaDefault::Json(json) => object.raw(out, "default", json),
            SchemaDefault::Text(text) => object.text(out, "default", text),
            SchemaDefault::None | SchemaDefault::Unknown => {}
        }
        let description = Description {
            text: self.description,
            names: self.names,
            format: self.format,
            parts: self.parts,
            unique: self.unique,
            example: notes.example,
            in_words,
        };
        description.write(out, &mut object);
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
            && (notes.in_keywords || is_published_format(name, side))
        {
            object.text(out, "format", name);
        }
        self.items(out, &mut object, side, in_words);
        object.number(out, "maxItems", self.items.most);
        object.number(out, "maxLength", self.characters.most);
        object.number(out, "maxProperties", self.entries.most);
        write_edge(out, &mut object, "maximum", self.most);
        object.number(out, "minItems", self.items.least);
        object.number(out, "minLength", self.characters.least);
        object.number(out, "minProperties", self.entries.least);
        write_edge(out, &mut object, "minimum", self.least);
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
        if let Some(fields) = self.object {
            fields.properties(out, &mut object, side, self.tag);
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
            object.text(out, header::KEYWORD, header);
        }
        out.push("}");
    }

    const fn additional(&self, out: &mut Out<'_>, object: &mut KeywordWriter, side: SchemaSide) {
        match self.values {
            // This matches only `Value` itself. schemars gives a newtype around `Value` a name, so the next branch writes its schema.
            Some(values) if values.is_anything() => {
                if let SchemaSide::Argument = side {
                    object.key(out, "additionalProperties");
                    any_value_of(out, LIST_LEVELS);
                }
            }
            Some(values) => {
                object.key(out, "additionalProperties");
                write(out, values, side, &Notes::NONE);
            }
            None => {}
        }
    }

    const fn items(
        &self,
        out: &mut Out<'_>,
        object: &mut KeywordWriter,
        side: SchemaSide,
        in_words: bool,
    ) {
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

const fn write_edge(out: &mut Out<'_>, object: &mut KeywordWriter, key: &str, edge: Edge) {
    match edge {
        Edge::None | Edge::Unwritable => {}
        Edge::Int(number) => {
            object.key(out, key);
            out.integer(number);
        }
        Edge::Json(json) => object.raw(out, key, json),
    }
}

impl AnyOfKeyword {
    const fn write(
        &self,
        out: &mut Out<'_>,
        object: &mut KeywordWriter,
        side: SchemaSide,
        omits_null: bool,
    ) {
        match *self {
            Self::None => return,
            Self::OrNull(inner) => {
                object.key(out, "anyOf");
                out.push("[");
                write(out, inner, side, &Notes::NONE);
                out.push(r#",{"type":"null"}"#);
            }
            Self::Any => {
                object.key(out, "anyOf");
                out.push("[");
                match side {
                    SchemaSide::Argument => {
                        branches_of_any_value(out, LIST_LEVELS);
                        out.push(r#",{"additionalProperties":"#);
                        any_value_of(out, 1);
                        out.push(r#","type":"object"}"#);
                    }
                    SchemaSide::Result => {
                        branches_of_any_value(out, 0);
                        out.push(r#",{"type":"array"}"#);
                    }
                }
            }
            Self::Of(branches) => {
                object.key(out, "anyOf");
                out.push("[");
                let mut first = true;
                let mut i = 0;
                let skips_null = omits_null && !are_null(branches);
                while i < branches.len() {
                    if skips_null && branches[i].node.is_null() {
                        i += 1;
                        continue;
                    }
                    out.comma(&mut first);
                    let notes = Notes {
                        description: branches[i].description,
                        can_be_absent: omits_null,
                        ..Notes::NONE
                    };
                    write(out, &branches[i].node, side, &notes);
                    i += 1;
                }
            }
        }
        out.push("]");
    }
}

impl Node {
    /// Writes the members of a struct into another object.
    pub(crate) const fn write_members(&self, out: &mut Out<'_>, first: &mut bool) {
        if let NodeShape::Object(object) = self.shape {
            object.write_members(out, first, SchemaSide::Argument, None);
        }
    }
}

impl Object {
    /// Writes the members sorted by name, with the tag of a variant among them.
    const fn write_members(
        &self,
        out: &mut Out<'_>,
        first: &mut bool,
        side: SchemaSide,
        mut tag: Option<(&str, &str)>,
    ) {
        let mut i = 0;
        while i <= self.members.len() {
            if let Some((key, name)) = tag
                && (i == self.members.len() || is_before(key, self.members[i].name))
            {
                tag = None;
                out.comma(first);
                out.string(key);
                out.push(r#":{"enum":["#);
                out.string(name);
                out.push(r#"],"type":"string"}"#);
            }
            if i < self.members.len() {
                let member = &self.members[i];
                out.comma(first);
                out.string(member.name);
                out.push(":");
                write(out, &member.node, side, &member.notes());
            }
            i += 1;
        }
    }

    const fn properties(
        &self,
        out: &mut Out<'_>,
        object: &mut KeywordWriter,
        side: SchemaSide,
        tag: Option<(&str, &str)>,
    ) {
        if !self.members.is_empty() || tag.is_some() {
            object.key(out, "properties");
            out.push("{");
            self.write_members(out, &mut true, side, tag);
            out.push("}");
        }
        let mut first = true;
        let mut i = 0;
        while i < self.declared.len() {
            let member = &self.members[self.declared[i]];
            if member.is_required(side) {
                self.required(out, object, &mut first, member.name);
            }
            i += 1;
        }
        if let Some((key, _)) = tag {
            self.required(out, object, &mut first, key);
        }
        if !first {
            out.push("]");
        }
    }

    const fn required(
        &self,
        out: &mut Out<'_>,
        object: &mut KeywordWriter,
        first: &mut bool,
        name: &str,
    ) {
        if *first {
            object.key(out, "required");
            out.push("[");
        }
        out.comma(first);
        out.string(name);
    }
}
