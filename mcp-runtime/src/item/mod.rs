//! Descriptions of items that do not depend on a running call: arguments, input schemas of tools, and URI templates of resources.

#[allow(missing_docs, reason = "public only for generated code")]
mod arg;
#[allow(missing_docs, reason = "public only for generated code")]
mod input;
#[allow(missing_docs, reason = "public only for generated code")]
mod source;
pub(crate) mod template;
pub(crate) mod uri;

pub use arg::{ArgDef, Completer};
pub use input::{InputSchema, Param, Property, judge_form, judge_text};
pub use source::{SourceLocation, trim_doc};
pub use template::{Segment, VariableKind};
