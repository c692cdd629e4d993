//! Operations that a client can request, and their outcomes. `protocol` passes operations to `dispatch`, and gets outcomes back.

use super::{Completion, PromptResult, Question, ReadResult, TaskAnswer, ToolResult};
use crate::error::Error;

/// Operation that a client requests, as [`around`](crate::Builder::around) sees it.
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

/// Outcome of an operation. [`around`](crate::Builder::around) passes it on, or replaces it with [`Outcome::failed`].
#[derive(Debug)]
pub struct Outcome(pub(crate) OperationResult);

impl Outcome {
    /// Creates an outcome that is an error. It has the kind of the [`Error`], as if the handler had returned it.
    pub fn failed(error: impl Into<Error>) -> Self {
        Self(Err(error.into()))
    }

    /// Returns the error, if there is one. An error of the tool's own (`isError`) is not included, see [`Outcome::is_tool_error`].
    pub fn error(&self) -> Option<&Error> {
        self.0.as_ref().err()
    }

    /// Whether a tool returned an error of its own (`isError`).
    pub fn is_tool_error(&self) -> bool {
        matches!(&self.0, Ok(Done::Tool(result)) if result.is_error)
    }

    /// Whether the client must answer questions first, and then repeat the call with the answers (2026-07-28). The call is not finished
    /// then: [`around`](crate::Builder::around) runs for each of these rounds. In earlier revisions the call waits for its answers, and
    /// this is always `false`.
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

pub(crate) type OperationResult = Result<Done, Error>;

/// Result of an operation.
#[derive(Debug)]
pub enum Done {
    Tool(ToolResult),
    Read(ReadResult),
    Prompt(PromptResult),
    Completion(Completion),
    /// The client must answer questions first.
    NeedInput(NeedInput),
    /// A response about tasks.
    Task(TaskAnswer),
    /// A page of a list, which `protocol` renders from the catalog.
    List(ListPage),
}

/// Questions of a call that cannot continue without their answers.
#[derive(Debug)]
pub struct NeedInput {
    /// Questions by their keys, in the order in which they were asked.
    pub(crate) questions: Vec<(Box<str>, Question)>,
    /// State that the client must send back with the answers.
    pub(crate) state: String,
}

/// The four lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    Tools,
    Resources,
    Templates,
    Prompts,
}

/// Page of a list, as a range of indexes. The items themselves are in the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPage {
    pub(crate) kind: ListKind,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) is_last: bool,
    /// Indexes of the items that this caller may see; `None` for the whole range.
    pub(crate) shown: Option<Vec<usize>>,
}
