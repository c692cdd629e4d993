//! What the attributes leave behind: one `static` [`ItemDef`] for each annotated function.

mod arg;
mod def;

pub use arg::{ArgDef, Completer};
pub use def::{CachePolicy, CallFn, ItemDef, KindDef, Origin, ResourceDef, ToolDef};
