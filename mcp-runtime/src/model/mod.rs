//! Types of MCP, as a superset of all revisions. `protocol` leaves out what a revision lacks.

mod asks;
mod client;
mod content;
#[allow(missing_docs, reason = "public only for generated code")]
mod form;
mod icon;
mod instant;
mod level;
mod message;
mod meta;
mod outcome;
pub(crate) mod page;
mod question;
mod rate;
mod resource;
mod root;
mod sampling;
mod task;
mod tool_name;

pub use asks::Asks;
pub use client::ClientInfo;
pub use content::{Annotations, Audio, Content, Embedded, Image, ResourceLink, Role, Text};
pub(crate) use content::{BinaryData, Extras};
pub use form::{Choices, FieldKind, FieldSchema, FormSchema, TextFormat};
pub use icon::Icon;
pub(crate) use instant::{Timestamp, millis};
pub use level::Level;
pub use message::Message;
pub use meta::Meta;
pub(crate) use meta::check_key as meta_key;
pub(crate) use outcome::OperationResult;
pub use outcome::{
    CachePolicy, Completion, Done, ListKind, ListPage, NeedInput, Operation, Outcome, PromptResult,
    ReadResult, ToolResult,
};
pub(crate) use question::{Action, Question, action, content};
pub use rate::Rate;
pub(crate) use resource::Body;
pub use resource::{Blob, ResourceContents};
pub use root::Root;
pub(crate) use root::read_roots;
pub use sampling::{
    IncludeContext, OtherContent, Sampled, SampledContent, Sampling, SamplingContent, SamplingTool,
    ToolChoice, ToolUse,
};
pub(crate) use sampling::{SamplingTurn, read_extras};
pub use task::{TaskAnswer, TaskSupport, TaskView};
pub(crate) use task::{TaskEnd, TaskState};
pub(crate) use tool_name::tool_name;
