//! Requests to the client's model (`sampling/createMessage`), and its answers.

mod request;
mod sampled;
mod tool;

pub(crate) use request::SamplingTurn;
pub use request::{IncludeContext, Sampling};
pub(crate) use sampled::read_extras;
pub use sampled::{OtherContent, Sampled, SampledContent, SamplingContent};
pub use tool::{SamplingTool, ToolChoice, ToolUse};
