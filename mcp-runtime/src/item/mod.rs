//! What the attributes leave behind: one `static` [`ItemDef`] for each annotated function.

// Public only for generated code, which needs no documentation.
#[allow(missing_docs)]
mod arg;
#[allow(missing_docs)]
mod def;
mod doc;
pub(crate) mod template;

pub use arg::{ArgDef, Completer};
pub use def::{CallFn, ItemDef, KindDef, Origin};
pub use doc::trim as trim_doc;
pub use template::{Segment, VariableKind};
