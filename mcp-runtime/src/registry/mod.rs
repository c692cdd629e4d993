//! What the attributes generate for each annotated function: a `static` [`ItemDef`], and its registration in the list of all items of the
//! binary.

mod def;
mod registration;

pub use def::{CallFn, ItemDef, KindDef, MetaValue, meta_value};
pub(crate) use def::{Constant, ToolDef};
#[cfg(not(any(target_family = "wasm", feature = "inventory")))]
pub use registration::MCP_RUNTIME_ITEMS_0;
#[cfg(any(target_family = "wasm", feature = "inventory"))]
pub use registration::RegistryEntry;
pub(crate) use registration::all;
pub use registration::{
    Completes, Registered, Unmarked, completed, completed_by, identity, placed, stand_in, unmarked,
};
