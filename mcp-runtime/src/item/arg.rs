//! Properties of parameters, as set by the attributes.

use std::any::TypeId;

use crate::schema::{
    CompiledPattern, Constraints, Range,
    constant::{Literal, Node, Notes, SchemaDefault},
};

/// Properties of a parameter, as set by its attributes. The type of the parameter decides whether the parameter is an argument at all.
#[derive(Debug)]
pub struct ArgDef {
    pub(crate) name: &'static str,
    pub(crate) title: Option<&'static str>,
    pub(crate) description: Option<&'static str>,
    pub(crate) example: Option<&'static str>,
    pub(crate) header: Option<&'static str>,
    pub(crate) completer: Option<Completer>,
    pub(crate) constraints: Constraints,
    pub(crate) default: Option<Literal>,
    /// Source line of the parameter; 0 if unknown.
    pub(crate) line: u32,
}

/// Source of the completions of an argument.
#[derive(Clone, Copy, Debug)]
pub enum Completer {
    /// A list of literals.
    Values(&'static [&'static str]),
    /// The `#[completion]` function with this identity.
    Function(fn() -> TypeId),
}

impl ArgDef {
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            title: None,
            description: None,
            example: None,
            header: None,
            completer: None,
            constraints: Constraints::new(),
            default: None,
            line: 0,
        }
    }

    /// Sets the name that users see.
    #[must_use]
    pub const fn title(mut self, title: &'static str) -> Self {
        self.title = Some(title);
        self
    }

    /// Sets the description. By default it is the doc comment of the parameter.
    #[must_use]
    pub const fn description(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }

    /// Sets the example, as JSON text.
    #[must_use]
    pub const fn example(mut self, example: &'static str) -> Self {
        self.example = Some(example);
        self
    }

    /// Names the HTTP header in which clients repeat the argument.
    #[must_use]
    pub const fn header(mut self, header: &'static str) -> Self {
        self.header = Some(header);
        self
    }

    /// Sets the source of completions.
    #[must_use]
    pub const fn complete(mut self, completer: Completer) -> Self {
        self.completer = Some(completer);
        self
    }

    /// Sets the smallest and the greatest number.
    #[must_use]
    pub const fn range(mut self, range: Range) -> Self {
        self.constraints.set_range(range);
        self
    }

    /// Sets the smallest and the greatest length of a text, a list or a map.
    #[must_use]
    pub const fn len(mut self, min: Option<usize>, max: Option<usize>) -> Self {
        self.constraints.set_len(min, max);
        self
    }

    /// Sets the regular expression that a text must match.
    #[must_use]
    pub const fn pattern(mut self, pattern: &'static str, regex: &'static CompiledPattern) -> Self {
        self.constraints.set_pattern(pattern, regex);
        self
    }

    /// Sets the default as written in the attribute. `ItemParams::add_default` evaluates the default at run time.
    #[must_use]
    pub const fn default(mut self, literal: Literal) -> Self {
        self.default = Some(literal);
        self
    }

    #[must_use]
    pub const fn line(mut self, line: u32) -> Self {
        self.line = line;
        self
    }

    /// Returns the keywords that the attributes add to the schema of the argument's type.
    pub(crate) const fn notes(&self, node: &Node) -> Notes<'_> {
        Notes {
            title: self.title,
            description: self.description,
            example: self.example,
            header: self.header,
            constraints: Some(&self.constraints),
            default: match self.default {
                Some(literal) => node.default_of(literal),
                None => SchemaDefault::None,
            },
            can_be_absent: node.is_optional() || self.default.is_some(),
            ..Notes::NONE
        }
    }
}
