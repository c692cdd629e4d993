//! What a client can ask of the items, and what comes of it: the two closed sets between `protocol` and `dispatch`.

use std::time::Duration;

use super::{Content, Message, Meta, Question, ResourceContents, TaskAnswer};
use crate::error::Error;

/// What the client wants, as [`around`](crate::Builder::around) sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// `tools/list`
    ListTools,
    /// `resources/list`
    ListResources,
    /// `resources/templates/list`
    ListResourceTemplates,
    /// `prompts/list`
    ListPrompts,
    /// `tools/call` of this tool
    CallTool(String),
    /// `resources/read` of this URI
    ReadResource(String),
    /// `prompts/get` of this prompt
    GetPrompt(String),
    /// `completion/complete` of this argument
    Complete(String),
}

impl Operation {
    /// The method's name on the wire.
    pub fn method(&self) -> &'static str {
        match self {
            Self::ListTools => "tools/list",
            Self::ListResources => "resources/list",
            Self::ListResourceTemplates => "resources/templates/list",
            Self::ListPrompts => "prompts/list",
            Self::CallTool(_) => "tools/call",
            Self::ReadResource(_) => "resources/read",
            Self::GetPrompt(_) => "prompts/get",
            Self::Complete(_) => "completion/complete",
        }
    }
}

/// What came of an operation. [`around`](crate::Builder::around) passes it on, or replaces it with [`Outcome::failed`].
#[derive(Debug)]
pub struct Outcome(pub(crate) Answer);

impl Outcome {
    /// An answer that is an error: of the kind the [`Error`] has, as if the handler had returned it.
    pub fn failed(error: impl Into<Error>) -> Self {
        Self(Err(error.into()))
    }

    /// The error, when there is one: the tool's own (`isError`) is none, see [`Outcome::is_tool_error`].
    pub fn error(&self) -> Option<&Error> {
        self.0.as_ref().err()
    }

    /// Whether a tool answered that it failed.
    pub fn is_tool_error(&self) -> bool {
        matches!(&self.0, Ok(Done::Tool(result)) if result.is_error)
    }

    /// Whether the client must answer questions first, and make the call again with the answers (2026-07-28). That is no end:
    /// [`around`](crate::Builder::around) runs for each of those rounds. In earlier revisions the call waits for its answers, and
    /// this is never so.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// let server = mcp_runtime::server!().around(async |call, next| {
    ///     let method = call.operation().method();
    ///     let outcome = next.run(call).await;
    ///     match outcome.needs_input() {
    ///         true => tracing::info!("{method} asks"),
    ///         false => tracing::info!("{method} is done"),
    ///     }
    ///     outcome
    /// });
    /// # let _ = server;
    /// ```
    pub fn needs_input(&self) -> bool {
        matches!(&self.0, Ok(Done::NeedInput(_)))
    }
}

pub(crate) type Answer = Result<Done, Error>;

/// A finished operation of an item.
#[derive(Debug)]
pub enum Done {
    Tool(ToolResult),
    Read(ReadResult),
    Prompt(PromptResult),
    Completion(Completion),
    /// The client must answer questions first.
    NeedInput(NeedInput),
    /// Something of tasks.
    Task(TaskAnswer),
    /// A list: the edge renders it from the catalog.
    List(Page),
}

/// What a call ends with that cannot go on without answers.
#[derive(Debug)]
pub struct NeedInput {
    /// By their keys, in the order they were asked.
    pub(crate) questions: Vec<(Box<str>, Question)>,
    /// What the client must send back with the answers.
    pub(crate) state: String,
}

/// What a tool gave back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    pub(crate) content: Vec<Content>,
    /// JSON text. `Some("null")` is a value, `None` is none (C-28).
    pub(crate) structured: Option<String>,
    pub(crate) is_error: bool,
    pub(crate) meta: Option<Meta>,
}

impl ToolResult {
    pub(crate) fn failure(text: impl Into<String>) -> Self {
        Self { content: vec![Content::from(text.into())], is_error: true, ..Self::default() }
    }

    /// Adds a block. Nearly every result has one, so there is room for no more at first.
    pub(crate) fn push(&mut self, content: Content) {
        if self.content.is_empty() {
            self.content = vec![content];
        } else {
            self.content.push(content);
        }
    }
}

/// What a resource holds.
#[derive(Debug, Default)]
pub struct ReadResult {
    pub(crate) contents: Vec<ResourceContents>,
    pub(crate) cache: Option<CachePolicy>,
}

/// What a prompt gave back.
#[derive(Debug, Default, PartialEq)]
pub struct PromptResult {
    /// The prompt's own.
    pub(crate) description: Option<String>,
    pub(crate) messages: Vec<Message>,
    pub(crate) meta: Option<Meta>,
}

/// Values for an argument, best first; at most 100 are sent. A `#[completion]` function that takes the typed
/// text filters for itself, and so does one that says how many there are: what others return is filtered by
/// what was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    pub(crate) values: Vec<String>,
    pub(crate) total: Option<usize>,
}

impl Completion {
    /// These values out of `total`, when there are more than are given here.
    pub fn new(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { values: values.into_iter().map(Into::into).collect(), total: None }
    }

    /// How many there are in all.
    #[must_use]
    pub fn total(mut self, total: usize) -> Self {
        self.total = Some(total);
        self
    }
}

/// How long others may keep what was read (2026-07-28).
#[derive(Clone, Copy, Debug, Default)]
pub struct CachePolicy {
    pub(crate) public: bool,
    pub(crate) ttl: Duration,
}

impl CachePolicy {
    /// Not at all, and only for the one who asked.
    pub const fn new() -> Self {
        Self { public: false, ttl: Duration::ZERO }
    }

    /// Also for others than the one who asked.
    #[must_use]
    pub const fn public(mut self) -> Self {
        self.public = true;
        self
    }

    /// For this long.
    #[must_use]
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }
}

/// The four lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    Tools,
    Resources,
    Templates,
    Prompts,
}

/// A stretch of one list: what stands there, the catalog knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub(crate) kind: ListKind,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) is_last: bool,
    /// Where the items stand that this caller is shown; all of the stretch if not said.
    pub(crate) shown: Option<Vec<usize>>,
}
