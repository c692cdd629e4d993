//! What is to be known of a node before it is written.

use super::node::{Member, Node, Object, What};
use crate::schema::Kind;

impl Node {
    /// Whether a constant says all of it.
    pub(crate) const fn is_constant(&self) -> bool {
        match self.what {
            What::Unknown => false,
            What::Optional(it) | What::Map(it) | What::Array { items: it, .. } => it.is_constant(),
            What::Tuple(parts) => {
                let mut i = 0;
                while i < parts.len() {
                    if !parts[i].is_constant() {
                        return false;
                    }
                    i += 1;
                }
                super::alike::are_comparable(parts)
            }
            What::Object(object) => object.is_constant(),
            What::OneOf(branches) => {
                let mut i = 0;
                while i < branches.len() {
                    if !branches[i].node.is_constant() {
                        return false;
                    }
                    i += 1;
                }
                true
            }
            _ => true,
        }
    }

    /// Whether its fields are arguments, when it is spread.
    pub(crate) const fn is_object(&self) -> bool {
        matches!(self.what, What::Object(_))
    }

    /// Whether every value is a JSON object.
    pub(crate) const fn is_json_object(&self) -> bool {
        matches!(self.what, What::Object(_) | What::Map(_))
    }

    /// An enum with data. As the root of a result it has a `type` only if all variants are objects, which `schema::output` finds out.
    pub(crate) const fn is_choice(&self) -> bool {
        matches!(self.what, What::OneOf(_))
    }

    /// Need not be sent.
    pub(crate) const fn is_optional(&self) -> bool {
        matches!(self.what, What::Optional(_))
    }

    /// The member of a struct at `index`, in the order of names.
    pub(crate) const fn member(&self, index: usize) -> Option<&'static Member> {
        match self.what {
            What::Object(object) if index < object.members.len() => Some(&object.members[index]),
            _ => None,
        }
    }

    pub(crate) const fn is_known(&self) -> bool {
        !matches!(self.what, What::Unknown)
    }

    pub(crate) const fn kind(&self) -> Kind {
        match self.what {
            What::Boolean => Kind::Boolean,
            What::Text { .. } | What::Names { .. } => Kind::String,
            What::Integer { .. } => Kind::Integer,
            What::Number => Kind::Number,
            What::Array { .. } | What::Tuple(_) => Kind::Array,
            What::Map(_) | What::Object(_) => Kind::Object,
            What::Optional(it) => it.kind(),
            What::Null | What::Any | What::OneOf(_) | What::Unknown => Kind::Other,
        }
    }
}

impl Object {
    const fn is_constant(&self) -> bool {
        let mut i = 0;
        while i < self.members.len() {
            let member = &self.members[i];
            if !member.node.is_constant() || member.default().is_unknown() {
                return false;
            }
            i += 1;
        }
        true
    }
}
