//! [`Node`], which describes a type in a constant, so that its schema can be rendered at compile time.

use schemars::SchemaGenerator;
use serde_json::Value;

use crate::schema::const_text::equal;

/// Description of a type, from which its schema is written.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub(super) shape: NodeShape,
    /// Doc comment of the type.
    pub(super) description: Option<&'static str>,
    pub(super) default: DefaultForm,
    /// Whether the type is one of std, so that its `Default` is the empty value.
    pub(super) is_std: bool,
}

/// Pointer to [`std::any::type_name`], which is not available in const code.
pub(crate) type TypeName = fn() -> &'static str;

/// Shape of the values of a type, as their schema describes it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeShape {
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
    /// Any JSON value.
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
    /// A variant of an enum with `#[serde(tag = "…")]`: a struct with an additional member that contains the name of the variant.
    Tagged {
        tag: &'static str,
        name: &'static str,
        object: &'static Object,
    },
    OneOf(&'static [Branch]),
    /// No constant describes the type. The value is the name of the type, if the node stands for a single type.
    #[cfg_attr(not(feature = "stdio"), allow(dead_code, reason = "only the command line tells"))]
    Unknown(Option<TypeName>),
    /// The type is nested more deeply than constants can describe.
    TooDeep,
}

/// JSON form of a default value of the type. The variants correspond to the types of `extract::probe::json::primitive_json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DefaultForm {
    Never,
    Boolean,
    Integer,
    Float {
        single: bool,
    },
    Text,
    /// A list of one of these types. Constants write only the empty list.
    List,
    /// Name of a variant of an enum without data.
    Name,
}

impl DefaultForm {
    /// Sets the default form of `node` to `List` if its elements are booleans, numbers or texts. Other lists keep their default form.
    ///
    /// `node` is a list, and `self` is the default form of its elements.
    pub(super) const fn listed(self, node: Node) -> Node {
        match self {
            Self::Never | Self::List | Self::Name => node,
            _ => node.written(Self::List),
        }
    }
}

/// A variant of an enum without data.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    pub(super) variant: &'static str,
    pub(super) name: &'static str,
    /// Description in one line.
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
    /// Members, sorted by name.
    pub(super) members: &'static [Member],
    /// Indexes into `members`, in the order of declaration.
    pub(super) declared: &'static [usize],
    /// Whether the struct has `#[serde(deny_unknown_fields)]`.
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
    /// Whether the field has `#[serde(default)]`.
    pub(super) defaulted: bool,
    /// Whether the schema has no default, because the value cannot be serialized.
    pub(super) unwritten: bool,
    /// Whether results omit the empty value (`skip_serializing_if`).
    pub(super) skipped: bool,
    /// Whether the member is required even if its type is an `Option`, like a member of an enum variant or the `end` of a `Range`.
    pub(super) always: bool,
    pub(super) lazy: Option<AskSchemars>,
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

    /// Sets whether the default can be serialized.
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

    /// Sets the function that gets the schema from schemars, for a type that no constant describes.
    #[must_use]
    pub const fn or(mut self, lazy: AskSchemars) -> Self {
        self.lazy = Some(lazy);
        self
    }
}

/// Schema of a member's type from schemars, and whether the member is optional.
#[derive(Debug)]
pub struct SchemarsAnswer {
    pub(crate) schema: Value,
    pub(crate) is_optional: bool,
}

/// Function that gets the schema of a type from schemars. It returns `None` if the type is not known to implement `JsonSchema`.
pub(crate) type AskSchemars = fn(&mut SchemaGenerator) -> Option<SchemarsAnswer>;

/// A variant of an enum with data, as it is serialized. All variants without data or documentation share a branch.
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
    pub const UNKNOWN: Self = Self::of(NodeShape::Unknown(None));
    pub(super) const fn unknown(name: TypeName) -> Self {
        Self::of(NodeShape::Unknown(Some(name)))
    }

    pub(super) const TOO_DEEP: Self = Self::of(NodeShape::TooDeep);

    pub(crate) const fn of(shape: NodeShape) -> Self {
        Self { shape, description: None, default: DefaultForm::Never, is_std: true }
    }

    pub(super) const fn written(mut self, default: DefaultForm) -> Self {
        self.default = default;
        self
    }

    pub const fn object(object: &'static Object) -> Self {
        Self::own(NodeShape::Object(object))
    }

    const fn own(shape: NodeShape) -> Self {
        Self { is_std: false, ..Self::of(shape) }
    }

    /// Creates the node of an enum without data. `default` is the name of the variant with `#[default]`.
    pub const fn names(names: &'static [Name], default: Option<&'static str>) -> Self {
        Self::own(NodeShape::Names { names, default }).written(DefaultForm::Name)
    }

    pub const fn null() -> Self {
        Self::own(NodeShape::Null)
    }

    pub const fn tuple(parts: &'static [Node]) -> Self {
        Self::own(NodeShape::Tuple(parts))
    }

    /// Creates the node of an internally tagged variant that contains a struct. The node is `UNKNOWN` if the struct has a member with the
    /// name of the tag. It is also `UNKNOWN` for a closed struct, because schemars orders its members differently.
    pub const fn tagged(tag: &'static str, name: &'static str, inner: &Self) -> Self {
        match inner.shape {
            NodeShape::Object(object) if !object.closed && !object.has(tag) => Self {
                description: inner.description,
                ..Self::own(NodeShape::Tagged { tag, name, object })
            },
            _ => Self::UNKNOWN,
        }
    }

    pub const fn one_of(branches: &'static [Branch]) -> Self {
        Self::own(NodeShape::OneOf(branches))
    }

    /// Returns the node of a newtype: a struct with one value, which is serialized as that value.
    #[must_use]
    pub const fn newtype(mut self) -> Self {
        // A newtype around an `Option` can be left out as an argument, but not as a member. So schemars generates the schema.
        if let NodeShape::Optional(_) = self.shape {
            return Self::UNKNOWN;
        }
        self.is_std = false;
        self.elsewhere()
    }

    /// Returns the node for use in a wrapper type, such as a newtype or a `Cow`, whose defaults are not written.
    pub(super) const fn elsewhere(mut self) -> Self {
        self.default = DefaultForm::Never;
        self
    }

    #[must_use]
    pub const fn description(mut self, text: &'static str) -> Self {
        self.description = Some(text);
        self
    }
}
