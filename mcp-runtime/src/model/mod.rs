//! MCP types that cover all protocol revisions. When `protocol` encodes them, it leaves out the parts that a revision does not have.

mod client;
mod content;
#[allow(missing_docs, reason = "public only for generated code")]
mod form;
mod item;
mod meta;
mod outcome;
mod question;
mod result;
mod root;
mod sampling;
mod task;

pub use client::{Asks, ClientInfo, Level};
pub(crate) use content::{Annotations, BinaryData, Extras, ResourceBody};
pub use content::{
    Audio, Blob, Content, Embedded, Image, Message, ResourceContents, ResourceLink, Role, Text,
};
pub use form::{Choices, FieldKind, FieldSchema, FormSchema, TextFormat};
pub(crate) use item::check_tool_name;
pub use item::{Icon, Rate};
pub use meta::Meta;
pub(crate) use meta::check_meta_key;
pub(crate) use outcome::OperationResult;
pub use outcome::{Done, ListKind, ListPage, NeedInput, Operation, Outcome};
pub(crate) use question::{
    Action, PAGE_URL, Question, WrittenQuestion, check_page_url, read_action, read_content,
};
pub use result::{CachePolicy, Completion, PromptResult, ReadResult, ToolResult};
pub use root::Root;
pub(crate) use root::read_roots;
pub use sampling::{
    IncludeContext, OtherContent, Sampled, SampledContent, Sampling, SamplingContent, SamplingTool,
    ToolChoice, ToolUse,
};
pub(crate) use sampling::{SamplingTurn, read_extras};
pub use task::{TaskAnswer, TaskSupport, TaskView};
pub(crate) use task::{TaskEnd, TaskState, Timestamp, millis};
