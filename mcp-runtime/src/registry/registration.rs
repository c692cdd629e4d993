//! Registration: the expansion of an attribute adds its item to the list of all items in the binary.
//!
//! The linker collects all items in one slice. The name of the slice contains the major version, so that two incompatible copies of this
//! crate in one binary cannot mix their entries. On wasm, and with the feature `inventory`, the same entries are instead collected by
//! constructors that run before `main`.
//!
//! An attribute sees only the tokens of its function. The items of this module let the generated code determine three more properties at
//! compile time:
//!
//! - Whether a function has `#[completion]`. See [`MarksCompletion`].
//! - Whether the function is in a module or in an `impl` block. In a module, the function registers itself; in an `impl` block,
//!   `#[handlers]` on the block registers it. See [`Placed`]. The attribute expands to a constant that refers by name to itself and to the
//!   function. In a module, these names are in scope. In an `impl` block they are not, so they resolve to stand-ins from a glob import.
//! - Whether the feature `auth` is enabled, which the keys `scopes` and `auth` need. See the macros `__scopes` and `__policy`.

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

/// Adds an item to the distributed slice.
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

/// Returns the identity of a function: the id of its type, which no other function has.
pub fn identity<F: 'static>(_: &F) -> TypeId {
    TypeId::of::<F>()
}

/// Marker for a function with `#[completion]`. For a free function, the attribute declares an alias of this type with the name of the
/// function.
#[derive(Clone, Copy, Debug)]
pub struct Completes;

/// Marker for a function without `#[completion]`.
#[derive(Clone, Copy, Debug)]
pub struct Unmarked;

/// Fallback for the name `__Completion`, which generated code imports with a glob. If a function has a marker, the generated code also
/// imports this marker under the name `__Completion`, and the explicit import shadows the glob import.
pub mod unmarked {
    pub type __Completion = super::Unmarked;
}

/// Trait that the marker of a function of type `F` implements if the function has `#[completion]`. Used as a bound, the trait rejects
/// functions without the attribute at compile time.
#[diagnostic::on_unimplemented(
    message = "this function completes no arguments: it has no `#[completion]`",
    label = "not marked with `#[completion]`",
    note = "write `#[completion]` above the function that is named here"
)]
pub trait MarksCompletion<F> {}

#[diagnostic::do_not_recommend]
impl<F> MarksCompletion<F> for Completes {}

/// This impl never applies. It keeps the compiler from reporting a second error for a function that does not exist, whose type is unknown.
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

/// Type of the generated constant that registers a function in a module.
#[derive(Clone, Copy, Debug)]
pub struct Registered;

/// Type that the stand-ins in an `impl` block have instead of [`Registered`].
#[derive(Clone, Copy, Debug)]
pub struct Misplaced;

#[diagnostic::on_unimplemented(
    message = "an attribute on a function in an `impl` block needs `#[handlers]` on the block",
    label = "in an `impl` block that has no `#[handlers]`",
    note = "write `#[handlers]` (its old name is `#[server]`) above the `impl` block; a macro that generates such functions must generate the block too"
)]
pub trait Placed {}

#[diagnostic::do_not_recommend]
impl Placed for Registered {}

/// Compiles if `T` is [`Registered`], and fails with an error about `#[handlers]` if `T` is `Misplaced`.
pub fn placed<T: Placed>(_: T) {}

/// Stand-ins for the names that are not in scope in an `impl` block: the generated constant and the user's function.
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

/// Expands to the scopes that a caller must have been granted.
#[cfg(feature = "auth")]
#[doc(hidden)]
#[macro_export]
macro_rules! __scopes {
    ($($scope:literal),*) => { &[$($scope),*] };
}

/// Expands to a function that decides by the policy which callers may use the item. The policy expression is placed inside a nested
/// function, so a closure in it cannot capture local variables.
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
