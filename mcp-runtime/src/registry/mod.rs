//! Output of the attributes: one `static` [`ItemDef`] for each annotated function, and its registration.

mod def;
mod registration;

pub(crate) use def::Constant;
pub use def::{CallFn, ItemDef, KindDef};
#[cfg(not(any(target_family = "wasm", feature = "inventory")))]
pub use registration::MCP_RUNTIME_ITEMS_0;
#[cfg(any(target_family = "wasm", feature = "inventory"))]
pub use registration::RegistryEntry;
pub(crate) use registration::all;
pub use registration::{
    Completes, Registered, Unmarked, completed, completed_by, identity, placed, stand_in, unmarked,
};
