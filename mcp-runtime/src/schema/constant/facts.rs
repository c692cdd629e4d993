//! Answers questions about a type from its [`Node`] before the schema is written, such as whether constants describe the whole type. Also
//! compares nodes, because the schema of a tuple lists the schemas of its elements without duplicates.

use super::node::{Branch, Member, Node, NodeShape, Object};
use crate::schema::{SchemaKind, SchemaSide, const_text::equal};

/// Maximum number of nodes in a schema that is described by a constant. Types that contain other types many times can have millions of
/// nodes. The compiler rejects constants that take too long to evaluate, and visiting so many nodes would also delay the start of a
/// program.
pub(crate) const MOST_NODES: usize = 2_000;

impl Node {
    /// Whether constants describe the whole type.
    pub(crate) const fn is_constant(&self) -> bool {
        self.room_after(MOST_NODES) > 0 && self.is_whole()
    }

    /// Returns `room` minus the number of nodes of this schema, or 0 if the schema has too many nodes. A schema that is too deep for
    /// constants counts as infinite, because most such schemas are recursive.
    pub(crate) const fn room_after(&self, room: usize) -> usize {
        if room == 0 {
            return 0;
        }
        let mut room = room - 1;
        match self.shape {
            NodeShape::TooDeep => 0,
            NodeShape::Optional(inner)
            | NodeShape::Map(inner)
            | NodeShape::Array { items: inner, .. } => inner.room_after(room),
            NodeShape::Tuple(parts) => {
                let mut i = 0;
                while i < parts.len() {
                    room = parts[i].room_after(room);
                    i += 1;
                }
                room
            }
            NodeShape::Object(object) | NodeShape::Tagged { object, .. } => {
                let mut i = 0;
                while i < object.members.len() {
                    room = object.members[i].node.room_after(room);
                    i += 1;
                }
                room
            }
            NodeShape::OneOf(branches) => {
                let mut i = 0;
                while i < branches.len() {
                    room = branches[i].node.room_after(room);
                    i += 1;
                }
                room
            }
            _ => room,
        }
    }

    const fn is_whole(&self) -> bool {
        match self.shape {
            NodeShape::Unknown(_) | NodeShape::TooDeep => false,
            NodeShape::Optional(inner)
            | NodeShape::Map(inner)
            | NodeShape::Array { items: inner, .. } => inner.is_whole(),
            NodeShape::Tuple(parts) => {
                let mut i = 0;
                while i < parts.len() {
                    if !parts[i].is_whole() {
                        return false;
                    }
                    i += 1;
                }
                are_comparable(parts)
            }
            NodeShape::Object(object) | NodeShape::Tagged { object, .. } => object.is_whole(),
            NodeShape::OneOf(branches) => {
                let mut are_names = true;
                let mut has_names = false;
                let mut i = 0;
                while i < branches.len() {
                    let node = &branches[i].node;
                    if !node.is_whole() {
                        return false;
                    }
                    has_names = has_names || node.is_named();
                    are_names = are_names && (node.is_null() || node.is_named());
                    i += 1;
                }
                // If all branches are names or `null`, the rules of the compatible form rewrite them into one `enum`, so the choice is left
                // to schemars. So is a choice with nothing but `null`, which the rules may keep or omit.
                let is_only_null = branches.len() == 1 && branches[0].node.is_null();
                (!are_names || !has_names) && !is_only_null
            }
            _ => true,
        }
    }

    /// Returns the names of up to three members on the path to the first part that no constant describes. The names are empty if there is
    /// no such part, or if no named member leads to that part.
    pub(crate) const fn unknown_path(&self) -> [&'static str; 3] {
        match self.shape {
            NodeShape::Optional(inner)
            | NodeShape::Map(inner)
            | NodeShape::Array { items: inner, .. } => inner.unknown_path(),
            NodeShape::Tuple(parts) => {
                let mut i = 0;
                while i < parts.len() {
                    if !parts[i].is_whole() {
                        return parts[i].unknown_path();
                    }
                    i += 1;
                }
                [""; 3]
            }
            NodeShape::Object(object) | NodeShape::Tagged { object, .. } => {
                let mut i = 0;
                while i < object.members.len() {
                    let member = &object.members[i];
                    if !member.node.is_whole() {
                        let [first, second, _] = member.node.unknown_path();
                        return [member.name, first, second];
                    }
                    i += 1;
                }
                [""; 3]
            }
            NodeShape::OneOf(branches) => {
                let mut i = 0;
                while i < branches.len() {
                    if !branches[i].node.is_whole() {
                        return branches[i].node.unknown_path();
                    }
                    i += 1;
                }
                [""; 3]
            }
            _ => [""; 3],
        }
    }

    /// Whether this is a struct. If a parameter with this type is spread, the fields of the struct become arguments.
    pub(crate) const fn is_object(&self) -> bool {
        matches!(self.shape, NodeShape::Object(_))
    }

    /// Whether every value is a JSON object.
    pub(crate) const fn is_json_object(&self) -> bool {
        match self.shape {
            NodeShape::Object(_) | NodeShape::Tagged { .. } | NodeShape::Map(_) => true,
            NodeShape::OneOf(branches) => {
                let mut i = 0;
                while i < branches.len() && branches[i].node.is_json_object() {
                    i += 1;
                }
                i == branches.len()
            }
            _ => false,
        }
    }

    pub(super) const fn is_null(&self) -> bool {
        match self.shape {
            NodeShape::Null => true,
            NodeShape::Optional(inner) => inner.is_null(),
            _ => false,
        }
    }

    const fn is_named(&self) -> bool {
        match self.shape {
            NodeShape::Names { .. } => true,
            NodeShape::Optional(inner) => inner.is_named(),
            _ => false,
        }
    }

    /// Whether this is an enum with data.
    pub(crate) const fn is_choice(&self) -> bool {
        matches!(self.shape, NodeShape::OneOf(_))
    }

    /// Whether this is `serde_json::Value` itself, or an option of it.
    pub(super) const fn is_anything(&self) -> bool {
        match self.shape {
            NodeShape::Any => self.is_std,
            NodeShape::Optional(inner) => inner.is_anything(),
            _ => false,
        }
    }

    /// Whether this type accepts `null` already, so that `Option<T>` has the same schema as `T`.
    pub(super) const fn takes_null(&self) -> bool {
        matches!(self.shape, NodeShape::Null | NodeShape::Any)
    }

    /// Whether this is an option of a type whose schema has a single `type`.
    pub(super) const fn is_typed_or_null(&self) -> bool {
        match self.shape {
            NodeShape::Optional(inner) => {
                !inner.takes_null()
                    && !matches!(
                        inner.shape,
                        NodeShape::Optional(_)
                            | NodeShape::OneOf(_)
                            | NodeShape::Unknown(_)
                            | NodeShape::TooDeep
                    )
            }
            _ => false,
        }
    }

    /// Whether an argument of this type can be left out.
    pub(crate) const fn is_optional(&self) -> bool {
        matches!(self.shape, NodeShape::Optional(_))
    }

    /// Returns the member of a struct at `index`, in the order of names.
    pub(crate) const fn member(&self, index: usize) -> Option<&'static Member> {
        match self.shape {
            NodeShape::Object(object) if index < object.members.len() => {
                Some(&object.members[index])
            }
            _ => None,
        }
    }

    #[cfg(test)]
    pub(crate) const fn shape(&self) -> NodeShape {
        self.shape
    }

    #[cfg(test)]
    pub(crate) const fn is_std(&self) -> bool {
        self.is_std
    }

    pub(crate) const fn is_known(&self) -> bool {
        !matches!(self.shape, NodeShape::Unknown(_))
    }

    pub(crate) const fn kind(&self) -> SchemaKind {
        match self.shape {
            NodeShape::Boolean => SchemaKind::Boolean,
            NodeShape::Text { .. } | NodeShape::Names { .. } => SchemaKind::String,
            NodeShape::Integer { .. } => SchemaKind::Integer,
            NodeShape::Number => SchemaKind::Number,
            NodeShape::Array { .. } | NodeShape::Tuple(_) => SchemaKind::Array,
            NodeShape::Map(_) | NodeShape::Object(_) | NodeShape::Tagged { .. } => {
                SchemaKind::Object
            }
            NodeShape::Optional(inner) => inner.kind(),
            NodeShape::Null
            | NodeShape::Any
            | NodeShape::OneOf(_)
            | NodeShape::Unknown(_)
            | NodeShape::TooDeep => SchemaKind::Other,
        }
    }
}

impl Object {
    const fn is_whole(&self) -> bool {
        let mut i = 0;
        while i < self.members.len() {
            let member = &self.members[i];
            if !member.node.is_whole() || member.default().is_unknown() {
                return false;
            }
            i += 1;
        }
        true
    }
}

/// Whether `alike` can compare all of these nodes. A single node needs no comparison. A choice between lists of names or `null` is left to
/// schemars, because the rules of the compatible form rewrite it.
pub(super) const fn are_comparable(parts: &[Node]) -> bool {
    let mut i = 0;
    while i < parts.len() && parts.len() > 1 {
        if !is_comparable(&parts[i]) {
            return false;
        }
        i += 1;
    }
    true
}

const fn is_comparable(node: &Node) -> bool {
    match node.shape {
        NodeShape::Names { .. }
        | NodeShape::OneOf(_)
        | NodeShape::Object(_)
        | NodeShape::Tagged { .. }
        | NodeShape::Null
        | NodeShape::Unknown(_)
        | NodeShape::TooDeep => false,
        NodeShape::Optional(inner)
        | NodeShape::Map(inner)
        | NodeShape::Array { items: inner, .. } => is_comparable(inner),
        NodeShape::Tuple(parts) => {
            let mut i = 0;
            while i < parts.len() {
                if !is_comparable(&parts[i]) {
                    return false;
                }
                i += 1;
            }
            true
        }
        _ => true,
    }
}

/// Whether no part before `index` has the same schema text as the part at `index`.
pub(super) const fn is_first(parts: &[Node], index: usize) -> bool {
    let mut i = 0;
    while i < index {
        if alike(&parts[i], &parts[index]) {
            return false;
        }
        i += 1;
    }
    true
}

/// Whether all parts have the same schema text.
pub(super) const fn are_alike(parts: &[Node]) -> bool {
    let mut i = 1;
    while i < parts.len() && !is_first(parts, i) {
        i += 1;
    }
    i >= parts.len()
}

/// Compares two nodes as parts of an argument.
const fn alike(a: &Node, b: &Node) -> bool {
    match (a.shape, b.shape) {
        (NodeShape::Optional(a), _) if a.takes_null() => alike(a, b),
        (_, NodeShape::Optional(b)) if b.takes_null() => alike(a, b),
        _ if !same_text(a.description, b.description) => false,
        (NodeShape::Optional(a), NodeShape::Optional(b)) => alike(a, b),
        (NodeShape::Boolean, NodeShape::Boolean)
        | (NodeShape::Number, NodeShape::Number)
        | (NodeShape::Any, NodeShape::Any) => true,
        (
            NodeShape::Text { format: a, least: least_a, most: most_a },
            NodeShape::Text { format: b, least: least_b, most: most_b },
        ) => same_text(a, b) && same(least_a, least_b) && same(most_a, most_b),
        (
            NodeShape::Integer { least: least_a, most: most_a },
            NodeShape::Integer { least: least_b, most: most_b },
        ) => same_bound(least_a, least_b) && same_bound(most_a, most_b),
        (
            NodeShape::Array { items: a, least: least_a, most: most_a, unique: unique_a },
            NodeShape::Array { items: b, least: least_b, most: most_b, unique: unique_b },
        ) => alike(a, b) && same(least_a, least_b) && same(most_a, most_b) && unique_a == unique_b,
        (NodeShape::Map(a), NodeShape::Map(b)) => alike(a, b) && a.is_anything() == b.is_anything(),
        (NodeShape::Tuple(a), NodeShape::Tuple(b)) => {
            let mut i = 0;
            while i < a.len() && i < b.len() {
                if !alike(&a[i], &b[i]) {
                    return false;
                }
                i += 1;
            }
            a.len() == b.len()
        }
        _ => false,
    }
}

const fn same(a: Option<usize>, b: Option<usize>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b,
        (None, None) => true,
        _ => false,
    }
}

const fn same_bound(a: Option<i128>, b: Option<i128>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b,
        (None, None) => true,
        _ => false,
    }
}

const fn same_text(a: Option<&str>, b: Option<&str>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => equal(a, b),
        (None, None) => true,
        _ => false,
    }
}

/// Returns the only branch of an argument, or the only one that is not `null` if `null` is omitted. `None` if there are several.
pub(super) const fn only_branch(
    branches: &'static [Branch],
    side: SchemaSide,
    omits_null: bool,
) -> Option<&'static Branch> {
    if matches!(side, SchemaSide::Result) || !omits_null && branches.len() > 1 {
        return None;
    }
    if branches.len() == 1 {
        return Some(&branches[0]);
    }
    let mut only = None;
    let mut i = 0;
    while i < branches.len() {
        if !branches[i].node.is_null() {
            if only.is_some() {
                return None;
            }
            only = Some(&branches[i]);
        }
        i += 1;
    }
    only
}

/// Whether all branches are `null`.
pub(super) const fn are_null(branches: &[Branch]) -> bool {
    let mut i = 0;
    while i < branches.len() && branches[i].node.is_null() {
        i += 1;
    }
    i == branches.len()
}
