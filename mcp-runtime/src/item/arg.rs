use std::any::TypeId;

use crate::schema::{Constraints, Range};

/// What the attributes know about one parameter. Whether it is an argument at all, its type decides.
#[derive(Debug)]
pub struct ArgDef {
    pub(crate) name: &'static str,
    pub(crate) title: Option<&'static str>,
    pub(crate) description: Option<&'static str>,
    pub(crate) example: Option<&'static str>,
    pub(crate) header: Option<&'static str>,
    pub(crate) completer: Option<Completer>,
    pub(crate) constraints: Constraints,
}

/// Where the completions of an argument come from.
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
        }
    }

    #[must_use]
    pub const fn title(mut self, title: &'static str) -> Self {
        self.title = Some(title);
        self
    }

    #[must_use]
    pub const fn description(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }

    /// JSON text.
    #[must_use]
    pub const fn example(mut self, example: &'static str) -> Self {
        self.example = Some(example);
        self
    }

    #[must_use]
    pub const fn header(mut self, header: &'static str) -> Self {
        self.header = Some(header);
        self
    }

    #[must_use]
    pub const fn complete(mut self, completer: Completer) -> Self {
        self.completer = Some(completer);
        self
    }

    #[must_use]
    pub const fn range(mut self, range: Range) -> Self {
        self.constraints.set_range(range);
        self
    }

    #[must_use]
    pub const fn len(mut self, min: Option<usize>, max: Option<usize>) -> Self {
        self.constraints.set_len(min, max);
        self
    }

    #[must_use]
    pub const fn pattern(mut self, pattern: &'static str) -> Self {
        self.constraints.set_pattern(pattern);
        self
    }
}
