//! Registration: the expansion of an attribute adds its item to the list of all items in the binary.
//!
//! The linker collects all items in one slice. The name of the slice contains the major version, so that two incompatible copies of this
//! crate in one binary cannot mix their entries. On wasm, and with the feature `inventory`, constructors collect the same entries instead.
//!
//! An attribute sees only its function. Generated code finds out three more facts through the items of this module:
//!
//! - Whether a function has `#[completion]`: through [`MarksCompletion`].
//! - Whether the function is in a module, where it registers itself, or in an `impl` block, where `#[handlers]` on the block registers
//!   it: through [`Placed`]. The attribute expands to a constant that refers by name to itself and to the function. A module has these
//!   names in scope. An `impl` block does not, so the names there resolve to stand-ins from a glob import.
//! - Whether the feature `auth` is on, for the keys `scopes` and `auth`: through the macros `__scopes` and `__policy`.

use std::any::TypeId;

use super::ItemDef;
use crate::call::extract::probe::NeverImplemented;

#[cfg(not(any(target_family = "wasm", feature = "inventory")))]
mod collected {
    use super::ItemDef;

    #[linkme::distributed_slice]
    pub static MCP_RUNTIME_ITEMS_0: [ItemDef];

    pub(super) fn all() -> impl Iterator<Item = &'static ItemDef> {
        MCP_RUNTIME_ITEMS_0.iter()
    }
}

#[cfg(any(target_family = "wasm", feature = "inventory"))]
mod collected {
    use super::ItemDef;

    /// Entry that `inventory` collects.
    #[derive(Debug)]
    pub struct RegistryEntry(pub &'static ItemDef);
    inventory::collect!(RegistryEntry);

    pub(super) fn all() -> impl Iterator<Item = &'static ItemDef> {
        inventory::iter::<RegistryEntry>().map(|entry| entry.0)
    }
}

#[cfg(not(any(target_family = "wasm", feature = "inventory")))]
pub use collected::MCP_RUNTIME_ITEMS_0;
#[cfg(any(target_family = "wasm", feature = "inventory"))]
pub use collected::RegistryEntry;

/// Returns all items, in an unspecified order.
pub(crate) fn all() -> impl Iterator<Item = &'static ItemDef> {
    collected::all()
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

/// Returns the identity of a function: the type that only this function has.
pub fn identity<F: 'static>(_: &F) -> TypeId {
    TypeId::of::<F>()
}

/// Mark of a function with `#[completion]`. The attribute declares a type alias of this mark, with the name of the function.
#[derive(Clone, Copy, Debug)]
pub struct Completes;

/// Mark of a function without `#[completion]`.
#[derive(Clone, Copy, Debug)]
pub struct Unmarked;

/// Module for a glob import. A mark of the same name that is declared in the importing scope shadows the imported one.
pub mod unmarked {
    pub type __Completion = super::Unmarked;
}

/// Trait of the marker type beside a function of type `F` that has `#[completion]`. As a bound, the trait rejects functions without the
/// attribute at compile time.
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
impl<F: NeverImplemented> MarksCompletion<F> for Unmarked {}

/// Returns the identity of a free function with `#[completion]`.
pub fn completed<M: MarksCompletion<F>, F: 'static>(function: &F) -> TypeId {
    identity(function)
}

/// Returns the identity of a method with `#[completion]`.
pub fn completed_by<M: MarksCompletion<F>, F: 'static>(function: &F, _: M) -> TypeId {
    identity(function)
}

/// Type of the constant that registers a function of a module.
#[derive(Clone, Copy, Debug)]
pub struct Registered;

/// Type of the stand-ins for [`Registered`] in an `impl` block.
#[derive(Clone, Copy, Debug)]
pub struct Misplaced;

#[diagnostic::on_unimplemented(
    message = "an attribute on a function in an `impl` block needs `#[handlers]` on the block",
    label = "in an `impl` block that has no `#[handlers]`",
    note = "write `#[handlers]` (`#[server]` until 0.1) above the `impl` block; a macro that generates such functions must generate the block too"
)]
pub trait Placed {}

#[diagnostic::do_not_recommend]
impl Placed for Registered {}

/// Compiles if `T` is [`Registered`], and fails with an error about `#[handlers]` if `T` is `Misplaced`.
pub fn placed<T: Placed>(_: T) {}

/// Stand-ins for the names that an `impl` block does not have in scope.
pub mod stand_in {
    #![allow(
        non_upper_case_globals,
        clippy::too_many_arguments,
        reason = "named and called like the user's functions that they stand for"
    )]

    use super::Misplaced;

    pub const __itself: Misplaced = Misplaced;
    pub const __identified: Misplaced = Misplaced;

    macro_rules! functions {
        ($($value:ident $future:ident ($($param:ident)*))*) => {$(
            pub mod $value {
                pub fn __function<$($param,)* R>($(_: $param),*) -> R {
                    unreachable!()
                }
            }
            pub mod $future {
                pub fn __function<$($param,)* R>($(_: $param),*) -> std::future::Ready<R> {
                    unreachable!()
                }
            }
        )*};
    }
    functions! {
        value0 future0 ()
        value1 future1 (A)
        value2 future2 (A B)
        value3 future3 (A B C)
        value4 future4 (A B C D)
        value5 future5 (A B C D E)
        value6 future6 (A B C D E F)
        value7 future7 (A B C D E F G)
        value8 future8 (A B C D E F G H)
        value9 future9 (A B C D E F G H I)
        value10 future10 (A B C D E F G H I J)
        value11 future11 (A B C D E F G H I J K)
        value12 future12 (A B C D E F G H I J K L)
        value13 future13 (A B C D E F G H I J K L M)
        value14 future14 (A B C D E F G H I J K L M N)
        value15 future15 (A B C D E F G H I J K L M N O)
        value16 future16 (A B C D E F G H I J K L M N O P)
    }
}

/// Scopes that a caller must have been granted.
#[cfg(feature = "auth")]
#[doc(hidden)]
#[macro_export]
macro_rules! __scopes {
    ($($scope:literal),*) => { &[$($scope),*] };
}

/// Policy that decides which callers may use the item. A function wraps the policy, so that a closure cannot capture local variables.
#[cfg(feature = "auth")]
#[doc(hidden)]
#[macro_export]
macro_rules! __policy {
    ($policy:expr) => {{
        fn decide(
            caller: &$crate::auth::Authorization,
            access: &$crate::auth::Access<'_>,
        ) -> ::core::primitive::bool {
            $crate::__private::decide($policy, caller, access)
        }
        decide
    }};
}

#[cfg(not(feature = "auth"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __scopes {
    ($($scope:literal),*) => {
        ::core::compile_error!(
            "`scopes` needs the feature `auth` of mcp-runtime, which verifies callers: run `cargo add mcp-runtime --features auth`"
        )
    };
}

#[cfg(not(feature = "auth"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __policy {
    ($policy:expr) => {
        ::core::compile_error!(
            "`auth` needs the feature `auth` of mcp-runtime, which verifies callers: run `cargo add mcp-runtime --features auth`"
        )
    };
}
