//! Results of tools, resources, prompts and completions.

use std::time::Duration;

use super::{Content, Message, Meta, ResourceContents};

/// Result of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    pub(crate) content: Vec<Content>,
    /// JSON text of the structured content. `Some("null")` is the value `null`, and `None` means that there is no structured content (rule
    /// C-28).
    pub(crate) structured: Option<String>,
    pub(crate) is_error: bool,
    pub(crate) meta: Option<Meta>,
}

impl ToolResult {
    pub(crate) fn failure(text: impl Into<String>) -> Self {
        Self { content: vec![Content::from(text.into())], is_error: true, ..Self::default() }
    }

    /// Adds a block. Nearly every result has a single block, so the first block allocates memory for one block only.
    pub(crate) fn push(&mut self, content: Content) {
        if self.content.is_empty() {
            self.content = vec![content];
        } else {
            self.content.push(content);
        }
    }
}

/// Contents of a resource.
#[derive(Debug, Default)]
pub struct ReadResult {
    pub(crate) contents: Vec<ResourceContents>,
    pub(crate) cache: Option<CachePolicy>,
}

/// Result of a prompt.
#[derive(Debug, Default, PartialEq)]
pub struct PromptResult {
    /// Description of the prompt, which `dispatch` copies from the item.
    pub(crate) description: Option<String>,
    pub(crate) messages: Vec<Message>,
    pub(crate) meta: Option<Meta>,
}

/// Proposed values for an argument, best first.
///
/// Return it from a function with [`completion`](macro@crate::prelude::completion) to set the [`total`](Self::total). Otherwise return a
/// `Vec<String>`. The server sends at most 100 values. It filters the values by the text typed so far, unless the function takes that text
/// as a parameter or sets `total`.
///
/// Specification: Server features, Completion.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// #[completion]
/// fn cities(typed: &str) -> Completion {
///     let found: Vec<_> = ["Lille", "Lyon", "Nice"]
///         .into_iter()
///         .filter(|city| city.starts_with(typed))
///         .collect();
///     let total = found.len();
///     Completion::new(found).total(total)
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    pub(crate) values: Vec<String>,
    pub(crate) total: Option<usize>,
}

impl Completion {
    /// Creates a completion with these values. Call [`total`](Self::total) if there are more.
    pub fn new(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { values: values.into_iter().map(Into::into).collect(), total: None }
    }

    /// Sets the total number of values, including values that are not sent.
    #[must_use]
    pub fn total(mut self, total: usize) -> Self {
        self.total = Some(total);
        self
    }
}

/// Caching of the contents of a resource: how long, and for which callers (2026-07-28).
#[derive(Clone, Copy, Debug, Default)]
pub struct CachePolicy {
    pub(crate) public: bool,
    pub(crate) ttl: Duration,
}

impl CachePolicy {
    /// Creates the default policy: a lifetime of zero, for the caller only.
    pub const fn new() -> Self {
        Self { public: false, ttl: Duration::ZERO }
    }

    /// Allows caches to serve the contents to other callers too.
    #[must_use]
    pub const fn public(mut self) -> Self {
        self.public = true;
        self
    }

    /// Sets how long the contents may be cached.
    #[must_use]
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }
}
