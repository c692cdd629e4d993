//! What is known of a type in constants.

use super::{alike::equal, depth::Depth, value::Ask};

/// A type whose schema constants can say. `D` is how many structs deep a schema may still go, which ends the way through
/// types that contain themselves.
///
/// Implemented for std's types and by `#[derive(Schema)]`.
#[diagnostic::on_unimplemented(
    message = "the compiler does not know the schema of `{Self}`",
    label = "its schema is made at run time",
    note = "put `#[data]` or `#[derive(Schema)]` on the type, with nothing but serde's plain attributes in it"
)]
pub trait Schema<D: Depth> {
    const NODE: Node;

    /// Where it lies.
    const AT: &'static Node = &Self::NODE;
}

/// The schema of a type, and what else there is to know of it.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub(super) what: What,
    /// What the type's documentation says.
    pub(super) description: Option<&'static str>,
    pub(super) default: Written,
    /// A type of std's, whose `Default` is what is empty.
    pub(super) is_std: bool,
}

/// [`std::any::type_name`], which constants may not call yet.
pub(crate) type TypeName = fn() -> &'static str;

#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    Boolean,
    Text {
        format: Option<&'static str>,
        least: Option<usize>,
        most: Option<usize>,
    },
    Integer {
        least: Option<i128>,
        most: Option<i128>,
    },
    Number,
    Null,
    /// Any JSON.
    Any,
    Optional(&'static Node),
    Array {
        items: &'static Node,
        least: Option<usize>,
        most: Option<usize>,
        unique: bool,
    },
    Tuple(&'static [Node]),
    Map(&'static Node),
    Names {
        names: &'static [Name],
        default: Option<&'static str>,
    },
    Object(&'static Object),
    /// A struct with one more member, whose only value is a name: a variant of an enum with `tag`.
    Tagged {
        tag: &'static str,
        name: &'static str,
        object: &'static Object,
    },
    OneOf(&'static [Branch]),
    /// No constant says it. With the name of the type, where it is for the type alone.
    #[cfg_attr(not(feature = "stdio"), allow(dead_code, reason = "only the command line tells"))]
    Unknown(Option<TypeName>),
    /// Deeper than constants go.
    TooDeep,
}

/// How a default of the type is written as JSON; the types are those of
/// `extract::probe::json::primitive_json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    Never,
    Boolean,
    Integer,
    Float {
        single: bool,
    },
    Text,
    /// A list of one of these: only the empty one is written in constants.
    List,
    /// By the name of the variant.
    Name,
}

impl Written {
    /// `node`, the list of what is written so.
    pub(super) const fn listed(self, node: Node) -> Node {
        match self {
            Self::Never | Self::List | Self::Name => node,
            _ => node.written(Self::List),
        }
    }
}

/// A value of an enum without data.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    pub(super) variant: &'static str,
    pub(super) name: &'static str,
    /// One line.
    pub(super) description: Option<&'static str>,
}

impl Name {
    pub const fn new(variant: &'static str, name: &'static str) -> Self {
        Self { variant, name, description: None }
    }

    #[must_use]
    pub const fn description(mut self, line: &'static str) -> Self {
        self.description = Some(line);
        self
    }
}

/// A struct with named fields.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// By name.
    pub(super) members: &'static [Member],
    /// Which members there are in the order of their declaration, as places in `members`.
    pub(super) declared: &'static [usize],
    /// `deny_unknown_fields`
    pub(super) closed: bool,
}

impl Object {
    pub const fn new(members: &'static [Member], declared: &'static [usize]) -> Self {
        Self { members, declared, closed: false }
    }

    #[must_use]
    pub const fn closed(mut self) -> Self {
        self.closed = true;
        self
    }

    const fn has(&self, name: &str) -> bool {
        let mut i = 0;
        while i < self.members.len() {
            if equal(self.members[i].name, name) {
                return true;
            }
            i += 1;
        }
        false
    }
}

/// A field of a struct.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    pub(super) name: &'static str,
    pub(super) node: Node,
    pub(super) title: Option<&'static str>,
    pub(super) description: Option<&'static str>,
    /// `#[serde(default)]`
    pub(super) defaulted: bool,
    /// The default is no part of the schema: it cannot be serialized.
    pub(super) unwritten: bool,
    /// The empty value is not written: `skip_serializing_if`.
    pub(super) skipped: bool,
    /// Never left out, not even as an option: what is in a variant.
    pub(super) always: bool,
    pub(super) lazy: Option<Ask>,
}

impl Member {
    pub const fn new(name: &'static str, node: Node) -> Self {
        Self {
            name,
            node,
            title: None,
            description: None,
            defaulted: false,
            unwritten: false,
            skipped: false,
            always: false,
            lazy: None,
        }
    }

    #[must_use]
    pub const fn description(mut self, text: &'static str) -> Self {
        self.description = Some(text);
        self
    }

    #[must_use]
    pub const fn title(mut self, text: &'static str) -> Self {
        self.title = Some(text);
        self
    }

    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    #[must_use]
    pub const fn defaulted(mut self) -> Self {
        self.defaulted = true;
        self
    }

    /// Whether its default can be serialized.
    #[must_use]
    pub const fn written(mut self, is_serialize: bool) -> Self {
        self.unwritten = !is_serialize;
        self
    }

    #[must_use]
    pub const fn skipped(mut self) -> Self {
        self.skipped = true;
        self
    }

    #[must_use]
    pub const fn always(mut self) -> Self {
        self.always = true;
        self
    }

    /// Who says the schema if no constant does.
    #[must_use]
    pub const fn or(mut self, lazy: Ask) -> Self {
        self.lazy = Some(lazy);
        self
    }
}

/// A variant of an enum with data, as it travels. All without data or documentation are one.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    pub(super) node: Node,
    pub(super) description: Option<&'static str>,
}

impl Branch {
    pub const fn new(node: Node) -> Self {
        Self { node, description: None }
    }

    #[must_use]
    pub const fn description(mut self, text: &'static str) -> Self {
        self.description = Some(text);
        self
    }
}

impl Node {
    pub const UNKNOWN: Self = Self::of(What::Unknown(None));
    pub(super) const fn unknown(name: TypeName) -> Self {
        Self::of(What::Unknown(Some(name)))
    }

    pub(super) const TOO_DEEP: Self = Self::of(What::TooDeep);

    pub(crate) const fn of(what: What) -> Self {
        Self { what, description: None, default: Written::Never, is_std: true }
    }

    pub(super) const fn written(mut self, default: Written) -> Self {
        self.default = default;
        self
    }

    pub const fn object(object: &'static Object) -> Self {
        Self::own(What::Object(object))
    }

    const fn own(what: What) -> Self {
        Self { is_std: false, ..Self::of(what) }
    }

    /// `default` is the variant with `#[default]`.
    pub const fn names(names: &'static [Name], default: Option<&'static str>) -> Self {
        Self::own(What::Names { names, default }).written(Written::Name)
    }

    pub const fn null() -> Self {
        Self::own(What::Null)
    }

    pub const fn tuple(parts: &'static [Node]) -> Self {
        Self::own(What::Tuple(parts))
    }

    /// A variant around a struct, whose name is another member of it. schemars orders the members of a closed one otherwise.
    pub const fn tagged(tag: &'static str, name: &'static str, inner: &Self) -> Self {
        match inner.what {
            What::Object(object) if !object.closed && !object.has(tag) => Self {
                description: inner.description,
                ..Self::own(What::Tagged { tag, name, object })
            },
            _ => Self::UNKNOWN,
        }
    }

    pub const fn one_of(branches: &'static [Branch]) -> Self {
        Self::own(What::OneOf(branches))
    }

    /// A struct around one value, which travels as that value.
    #[must_use]
    pub const fn newtype(mut self) -> Self {
        // serde reads a missing newtype of an option, and schemars calls it required.
        if let What::Optional(_) = self.what {
            return Self::UNKNOWN;
        }
        self.is_std = false;
        self.elsewhere()
    }

    /// In another type, whose defaults are not written.
    pub(super) const fn elsewhere(mut self) -> Self {
        self.default = Written::Never;
        self
    }

    #[must_use]
    pub const fn description(mut self, text: &'static str) -> Self {
        self.description = Some(text);
        self
    }
}
