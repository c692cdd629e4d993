//! Conversion of the value that the user's function returns into the answer to the client.

mod completion;
#[allow(missing_docs, reason = "public only for generated code")]
mod constant;
mod failure;
mod json;
mod prompt;
mod resource;
mod sampling;
mod tool;

use crate::model::Meta;

pub use completion::{CompletionReply, completion_reply};
pub use constant::{ConstantOutput, UnknownOutput};
pub use failure::IntoFailure;
pub use json::Json;
pub use prompt::{PromptReply, prompt_reply};
pub use resource::{ResourceReply, resource_reply};
pub use tool::{NoOutputLevel, OutputLevel, OutputSchema, ToolReply, tool_reply};

/// A result with its own `_meta` (protocol revision 2025-06-18 and later).
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Answers, and says what it cost.
/// #[tool]
/// fn ask() -> WithMeta<&'static str> {
///     WithMeta("42", Meta::new().with("example.com/cost", 3))
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct WithMeta<T>(pub T, pub Meta);
