//! All annotated functions of the binary, collected by the linker.
//!
//! The name of the slice contains the major version, so that two incompatible copies of this crate in one binary cannot mix their entries.
//! On wasm, and with the feature `inventory`, constructors collect the same entries instead.

mod place;

use std::any::TypeId;

pub use self::place::{Registered, placed, stand_in};

use crate::{call::extract::probe::Nothing, item::ItemDef};

#[cfg(not(any(target_family = "wasm", feature = "inventory")))]
mod gathered {
    use super::ItemDef;

    #[linkme::distributed_slice]
    pub static MCP_RUNTIME_ITEMS_0: [ItemDef];

    pub(super) fn all() -> impl Iterator<Item = &'static ItemDef> {
        MCP_RUNTIME_ITEMS_0.iter()
    }
}

#[cfg(any(target_family = "wasm", feature = "inventory"))]
mod gathered {
    use super::ItemDef;

    /// Entry that `inventory` collects.
    #[derive(Debug)]
    pub struct Entry(pub &'static ItemDef);
    inventory::collect!(Entry);

    pub(super) fn all() -> impl Iterator<Item = &'static ItemDef> {
        inventory::iter::<Entry>().map(|it| it.0)
    }
}

#[cfg(any(target_family = "wasm", feature = "inventory"))]
pub use gathered::Entry;
#[cfg(not(any(target_family = "wasm", feature = "inventory")))]
pub use gathered::MCP_RUNTIME_ITEMS_0;

/// Returns all items, in an unspecified order.
pub(crate) fn all() -> impl Iterator<Item = &'static ItemDef> {
    gathered::all()
}

/// Returns the identity of a function: the type that only this function has.
pub fn identity<F: 'static>(_: &F) -> TypeId {
    TypeId::of::<F>()
}

/// Mark of a function with `#[completion]`. The attribute declares a type alias of it that has the name of the function.
#[derive(Clone, Copy, Debug)]
pub struct Completes;

/// Mark of a function without `#[completion]`.
#[derive(Clone, Copy, Debug)]
pub struct Unmarked;

/// Module for a glob import, which a mark of the same name shadows.
pub mod unmarked {
    pub type __Completion = super::Unmarked;
}

/// Implemented by the marker type beside a function of type `F` if the function has `#[completion]`. As a bound, it makes a function without
/// the attribute a compile error.
#[diagnostic::on_unimplemented(
    message = "this function completes no arguments: it has no `#[completion]`",
    label = "not marked with `#[completion]`",
    note = "write `#[completion]` above the function that is named here"
)]
pub trait MarksCompletion<F> {}

#[diagnostic::do_not_recommend]
impl<F> MarksCompletion<F> for Completes {}

/// This impl never applies. It prevents a second error for a function that does not exist, whose type is unknown.
#[diagnostic::do_not_recommend]
impl<F: Nothing> MarksCompletion<F> for Unmarked {}

/// Returns the identity of a free function with `#[completion]`.
pub fn completed<M: MarksCompletion<F>, F: 'static>(function: &F) -> TypeId {
    identity(function)
}

/// Returns the identity of a method with `#[completion]`.
pub fn completed_by<M: MarksCompletion<F>, F: 'static>(function: &F, _: M) -> TypeId {
    identity(function)
}

/// Puts an item into the slice.
#[cfg(not(any(target_family = "wasm", feature = "inventory")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __register {
    ($item:expr) => {
        #[$crate::__private::linkme::distributed_slice($crate::__private::MCP_RUNTIME_ITEMS_0)]
        #[linkme(crate = $crate::__private::linkme)]
        static ITEM: $crate::__private::ItemDef = $item;
    };
}

/// Submits an item to `inventory`.
#[cfg(any(target_family = "wasm", feature = "inventory"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __register {
    ($item:expr) => {
        static ITEM: $crate::__private::ItemDef = $item;
        $crate::__private::inventory::submit! { $crate::__private::Entry(&ITEM) }
    };
}
