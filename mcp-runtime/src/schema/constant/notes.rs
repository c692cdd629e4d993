//! Notes: the parts of an argument's or a member's schema that do not follow from its type, such as the title and the default.

use super::node::{DefaultForm, Member, Node, NodeShape};
use crate::schema::{Constraints, SchemaSide, const_text::equal};

/// A default as written in the attribute.
#[derive(Clone, Copy, Debug)]
pub enum Literal {
    /// An integer or a bool, as JSON.
    Json(&'static str),
    /// A float as JSON. `single` tells whether an `f32` can represent it exactly.
    Float {
        json: &'static str,
        single: bool,
    },
    Text(&'static str),
    /// A path such as `Place::Window`. Contains only the last segment, which is usually the name of a variant.
    Variant(&'static str),
    /// `default` without a value: the default of the type.
    Empty,
    /// Any other expression.
    Expression,
}

/// A default as written in the schema.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SchemaDefault {
    /// The schema has no default.
    None,
    Null,
    Json(&'static str),
    Text(&'static str),
    /// Known only at run time.
    Unknown,
}

impl SchemaDefault {
    pub(crate) const fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }
}

/// All notes on an argument or a member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notes<'a> {
    pub(crate) title: Option<&'static str>,
    pub(crate) description: Option<&'static str>,
    /// JSON text.
    pub(crate) example: Option<&'static str>,
    pub(crate) header: Option<&'static str>,
    pub(crate) constraints: Option<&'a Constraints>,
    pub(crate) default: SchemaDefault,
    /// Whether a client can leave the value out. The schema of such a value has no `null`.
    pub(crate) can_be_absent: bool,
    /// Whether keywords are kept even in an argument. A part of a larger schema keeps its keywords, because the rules of the compatible
    /// form replace them with sentences later.
    pub(crate) in_keywords: bool,
}

impl Notes<'_> {
    pub(crate) const NONE: Self = Self {
        title: None,
        description: None,
        example: None,
        header: None,
        constraints: None,
        default: SchemaDefault::None,
        can_be_absent: false,
        in_keywords: false,
    };
}

impl Node {
    /// Returns the default as `extract::probe::json::primitive_json` and `extract::values::name_of` write it at run time.
    pub(crate) const fn default_of(&self, literal: Literal) -> SchemaDefault {
        match (self.default, literal) {
            (DefaultForm::Boolean | DefaultForm::Integer, Literal::Json(json)) => {
                SchemaDefault::Json(json)
            }
            (DefaultForm::Float { single }, Literal::Float { json, single: exact }) => {
                if single && !exact { SchemaDefault::Unknown } else { SchemaDefault::Json(json) }
            }
            (DefaultForm::Text, Literal::Text(text)) => SchemaDefault::Text(text),
            (DefaultForm::Name, Literal::Variant(variant)) => self.named(variant),
            (DefaultForm::Name, Literal::Empty) => match self.shape {
                NodeShape::Names { default: Some(variant), .. } => self.named(variant),
                _ => SchemaDefault::Unknown,
            },
            (written, Literal::Empty) => match written {
                DefaultForm::Boolean => SchemaDefault::Json("false"),
                DefaultForm::Integer => SchemaDefault::Json("0"),
                DefaultForm::Float { .. } => SchemaDefault::Json("0.0"),
                DefaultForm::Text => SchemaDefault::Text(""),
                DefaultForm::List => SchemaDefault::Json("[]"),
                DefaultForm::Never | DefaultForm::Name => self.unwritten(true),
            },
            (DefaultForm::Never, _) => self.unwritten(false),
            _ => SchemaDefault::Unknown,
        }
    }

    /// Returns the default for a value that a constant cannot write: `None` if no schema shows a default of this type, and `Unknown` if the
    /// schema may show one at run time. `empty` is true for the default of the type itself.
    const fn unwritten(&self, empty: bool) -> SchemaDefault {
        match self.shape {
            NodeShape::OneOf(_) | NodeShape::Unknown(_) | NodeShape::TooDeep => {
                SchemaDefault::Unknown
            }
            NodeShape::Optional(_) if !empty => SchemaDefault::Unknown,
            _ => SchemaDefault::None,
        }
    }

    const fn named(&self, variant: &str) -> SchemaDefault {
        let NodeShape::Names { names, .. } = self.shape else { return SchemaDefault::Unknown };
        let mut i = 0;
        while i < names.len() {
            if equal(names[i].variant, variant) {
                // `name_of` returns `None` for an enum with a single variant, so no schema shows its default.
                return if names.len() > 1 {
                    SchemaDefault::Text(names[i].name)
                } else {
                    SchemaDefault::None
                };
            }
            i += 1;
        }
        SchemaDefault::Unknown
    }
}

impl Member {
    pub(super) const fn notes(&self) -> Notes<'static> {
        Notes {
            title: self.title,
            description: self.description,
            default: self.default(),
            can_be_absent: !self.is_required(SchemaSide::Argument),
            ..Notes::NONE
        }
    }

    /// Whether schemars marks the member as required. A member of an argument is required if serde needs it. A member of a result is
    /// required if serde always writes it.
    pub(crate) const fn is_required(&self, side: SchemaSide) -> bool {
        match side {
            SchemaSide::Argument => self.always || !self.defaulted && !self.node.is_optional(),
            SchemaSide::Result => !self.skipped,
        }
    }

    /// Returns the value of `#[serde(default)]` as schemars writes it. schemars serializes the value, which a constant cannot do. So this
    /// function returns only values that are known to be empty.
    pub(super) const fn default(&self) -> SchemaDefault {
        if !self.defaulted || self.unwritten {
            return SchemaDefault::None;
        }
        match self.node.shape {
            _ if !self.node.is_std => SchemaDefault::Unknown,
            _ if self.skipped => SchemaDefault::None,
            NodeShape::Optional(inner) if inner.is_null() => SchemaDefault::Unknown,
            NodeShape::Optional(_) => SchemaDefault::Null,
            NodeShape::Boolean => SchemaDefault::Json("false"),
            NodeShape::Integer { least: None | Some(..=0), .. } => SchemaDefault::Json("0"),
            NodeShape::Number => SchemaDefault::Json("0.0"),
            NodeShape::Text { format: None, least: None, .. } => SchemaDefault::Text(""),
            NodeShape::Array { least: None, .. } => SchemaDefault::Json("[]"),
            NodeShape::Map(_) => SchemaDefault::Json("{}"),
            _ => SchemaDefault::Unknown,
        }
    }
}
