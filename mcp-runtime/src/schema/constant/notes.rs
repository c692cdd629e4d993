//! Notes on an argument or a member beside its type, such as its title and default.

use super::{
    alike::equal,
    node::{Member, Node, What, Written},
};
use crate::schema::{Constraints, compatible::Side};

/// A default as written in the attribute.
#[derive(Clone, Copy, Debug)]
pub enum Literal {
    /// An integer or a bool, as JSON.
    Json(&'static str),
    /// A float as JSON, and whether an `f32` holds it exactly.
    Float {
        json: &'static str,
        single: bool,
    },
    Text(&'static str),
    /// The last segment of a path.
    Variant(&'static str),
    /// `default` without a value: the default of the type.
    Empty,
    /// Any other expression.
    Expression,
}

/// A default as written in the schema.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Default {
    /// The schema has no default.
    None,
    Null,
    Json(&'static str),
    Text(&'static str),
    /// Known only at run time.
    Unknown,
}

impl Default {
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
    pub(crate) default: Default,
    /// Keeps keywords even in an argument, because more is added to the schema before the rules turn keywords into sentences.
    pub(crate) in_keywords: bool,
}

impl Notes<'_> {
    pub(crate) const NONE: Self = Self {
        title: None,
        description: None,
        example: None,
        header: None,
        constraints: None,
        default: Default::None,
        in_keywords: false,
    };
}

impl Node {
    /// Returns the default as `extract::probe::json::primitive_json` and `extract::values::name_of` write it at run time.
    pub(crate) const fn default_of(&self, literal: Literal) -> Default {
        match (self.default, literal) {
            (Written::Boolean | Written::Integer, Literal::Json(json)) => Default::Json(json),
            (Written::Float { single }, Literal::Float { json, single: exact }) => {
                if single && !exact { Default::Unknown } else { Default::Json(json) }
            }
            (Written::Text, Literal::Text(text)) => Default::Text(text),
            (Written::Name, Literal::Variant(variant)) => self.named(variant),
            (Written::Name, Literal::Empty) => match self.what {
                What::Names { default: Some(variant), .. } => self.named(variant),
                _ => Default::Unknown,
            },
            (written, Literal::Empty) => match written {
                Written::Boolean => Default::Json("false"),
                Written::Integer => Default::Json("0"),
                Written::Float { .. } => Default::Json("0.0"),
                Written::Text => Default::Text(""),
                Written::List => Default::Json("[]"),
                Written::Never | Written::Name => self.unwritten(true),
            },
            (Written::Never, _) => self.unwritten(false),
            _ => Default::Unknown,
        }
    }

    /// Returns `None` for a type whose defaults are never written, and `Unknown` where that depends on the value.
    const fn unwritten(&self, empty: bool) -> Default {
        match self.what {
            What::OneOf(_) | What::Unknown(_) | What::TooDeep => Default::Unknown,
            What::Optional(_) if !empty => Default::Unknown,
            _ => Default::None,
        }
    }

    const fn named(&self, variant: &str) -> Default {
        let What::Names { names, .. } = self.what else { return Default::Unknown };
        let mut i = 0;
        while i < names.len() {
            if equal(names[i].variant, variant) {
                // `name_of` returns `None` for an enum with a single variant.
                return if names.len() > 1 { Default::Text(names[i].name) } else { Default::None };
            }
            i += 1;
        }
        Default::Unknown
    }
}

impl Member {
    pub(super) const fn notes(&self) -> Notes<'static> {
        Notes {
            title: self.title,
            description: self.description,
            default: self.default(),
            ..Notes::NONE
        }
    }

    /// Whether schemars calls the member required: serde needs it in an argument, or always writes it in a result.
    pub(crate) const fn is_required(&self, side: Side) -> bool {
        match side {
            Side::Argument => self.always || !self.defaulted && !self.node.is_optional(),
            Side::Result => !self.skipped,
        }
    }

    /// Returns the value of `#[serde(default)]` as schemars writes it. schemars serializes the value, so only values that are known to be
    /// empty are written here.
    pub(super) const fn default(&self) -> Default {
        if !self.defaulted || self.unwritten {
            return Default::None;
        }
        match self.node.what {
            _ if !self.node.is_std => Default::Unknown,
            _ if self.skipped => Default::None,
            What::Optional(it) if it.is_null() => Default::Unknown,
            What::Optional(_) => Default::Null,
            What::Boolean => Default::Json("false"),
            What::Integer { least: None | Some(..=0), .. } => Default::Json("0"),
            What::Number => Default::Json("0.0"),
            What::Text { format: None, least: None, .. } => Default::Text(""),
            What::Array { least: None, .. } => Default::Json("[]"),
            What::Map(_) => Default::Json("{}"),
            _ => Default::Unknown,
        }
    }
}
