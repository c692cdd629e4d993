//! Model Context Protocol servers from plain functions.

#[allow(dead_code, reason = "the callers are in other rooms")]
mod catalog;
#[allow(dead_code, unused_imports, reason = "the callers are in other rooms")]
mod item;
#[allow(dead_code, reason = "the callers are in other rooms")]
mod percent;
#[allow(dead_code, unused_imports, reason = "the callers are in other rooms")]
mod schema;

/// What generated code names.
#[doc(hidden)]
pub mod __private {
    pub use crate::item::template::{Segment, VariableKind};
    pub use crate::schema::Range;
}
