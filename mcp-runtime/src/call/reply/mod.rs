//! Conversion of the value that the user's function returns into the answer to the client.

mod completion;
mod prompt;
mod resource;
mod result;
mod tool;

pub use completion::{CompletionReply, completion_reply};
pub use prompt::{PromptReply, prompt_reply};
pub use resource::{ResourceReply, resource_reply};
pub use result::{IntoFailure, Json, WithMeta};
pub use tool::{
    ConstantOutput, NoOutputLevel, OutputLevel, OutputSchemaSource, ToolReply, UnknownOutput,
    tool_reply,
};
