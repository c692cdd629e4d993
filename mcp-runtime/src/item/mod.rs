//! Output of the attributes: one `static` [`ItemDef`] for each annotated function.

#[allow(missing_docs, reason = "public only for generated code")]
mod arg;
#[allow(missing_docs, reason = "public only for generated code")]
mod def;
mod doc;
#[allow(missing_docs, reason = "public only for generated code")]
mod input;
mod rights;
pub(crate) mod template;

pub use arg::{ArgDef, Completer};
pub(crate) use def::Constant;
pub use def::{CallFn, ItemDef, KindDef, Origin};
pub use doc::trim as trim_doc;
pub use input::{InputSchema, Param, Property, judge_text};
pub use template::{Segment, VariableKind};
