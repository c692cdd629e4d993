//! Conversion of a handler's return value into the result for the client.

mod completion;
mod json;
mod prompt;
mod resource;
mod result;
mod tool;

pub use completion::{CompletionReply, completion_reply};
pub use prompt::{PromptReply, prompt_reply};
pub use resource::{MediaTypeLevel, NoMediaTypeLevel, ResourceReply, resource_reply};
pub use result::{IntoFailure, Json, WithMeta, WithText};
pub use tool::{
    ConstantOutput, NoOutputLevel, OutputLevel, OutputSchemaSource, ToolReply, UnknownOutput,
    tool_reply,
};
