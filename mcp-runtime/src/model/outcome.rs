//! Operations that a client can request, and their outcomes. `protocol` passes operations to `dispatch`, which returns outcomes.

use super::{Completion, PromptResult, Question, ReadResult, TaskAnswer, ToolResult};
use crate::error::Error;

/// Operation that a client requests.
///
/// The closure of [`Builder::around`](crate::Builder::around) gets it from
/// [`OperationCall::operation`](crate::middleware::OperationCall::operation).
///
/// ```
/// use mcp_runtime::middleware::Operation;
///
/// let operation = Operation::CallTool("add".to_owned());
/// assert_eq!(operation.method(), "tools/call");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// `tools/list`.
    ListTools,
    /// `resources/list`.
    ListResources,
    /// `resources/templates/list`.
    ListResourceTemplates,
    /// `prompts/list`.
    ListPrompts,
    /// `tools/call`, with the name of the tool.
    CallTool(String),
    /// `resources/read`, with the URI of the resource.
    ReadResource(String),
    /// `prompts/get`, with the name of the prompt.
    GetPrompt(String),
    /// `completion/complete`, with the name of the argument.
    Complete(String),
}

impl Operation {
    /// Returns the name of the method on the wire, such as `tools/call`.
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

/// Outcome of an operation: a result, an error, or requests for input from the client.
///
/// [`Next::run`](crate::middleware::Next::run) returns it to the closure of [`Builder::around`](crate::Builder::around). The closure
/// returns it unchanged, or replaces it with [`Outcome::failed`].
///
/// ```
/// use mcp_runtime::{
///     middleware::{Operation, Outcome},
///     prelude::*,
/// };
///
/// let server = mcp_runtime::server!().around(async |call, next| {
///     let is_locked =
///         matches!(call.operation(), Operation::CallTool(name) if name == "delete");
///     if is_locked {
///         return Outcome::failed(Error::msg("`delete` is locked during the backup"));
///     }
///     next.run(call).await
/// });
/// ```
#[derive(Debug)]
pub struct Outcome(pub(crate) OperationResult);

impl Outcome {
    /// Creates the outcome of an operation that failed with this error. The client gets the response that it would get if the handler had
    /// returned the [`Error`].
    pub fn failed(error: impl Into<Error>) -> Self {
        Self(Err(error.into()))
    }

    /// Returns the error, if there is one. An error that the tool itself reports to the model (`isError`) is not included: see
    /// [`is_tool_error`](Self::is_tool_error).
    pub fn error(&self) -> Option<&Error> {
        self.0.as_ref().err()
    }

    /// Returns whether a tool has reported an error to the model (`isError`).
    pub fn is_tool_error(&self) -> bool {
        matches!(&self.0, Ok(Done::Tool(result)) if result.is_error)
    }

    /// Returns whether the client must repeat the call with further input (protocol revision 2026-07-28).
    ///
    /// The call is then not finished, and the closure passed to [`Builder::around`](crate::Builder::around) runs again in each further
    /// round. Under earlier revisions the call itself waits for the input, and this method always returns `false`.
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
    /// The client has to answer questions and repeat the call.
    NeedInput(NeedInput),
    /// A response about tasks.
    Task(TaskAnswer),
    /// A page of a list, which `protocol` renders from the catalog.
    List(ListPage),
}

/// Questions that the client has to answer before a call can continue.
#[derive(Debug)]
pub struct NeedInput {
    /// Questions by their keys, in the order in which they were asked.
    pub(crate) questions: Vec<(Box<str>, Question)>,
    /// State that the client sends back with the answers.
    pub(crate) state: String,
}

/// Kind of a list.
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
    /// Indexes of the items that the caller may see. `None` stands for the whole range.
    pub(crate) shown: Option<Vec<usize>>,
}
