//! Methods that exist so that the compiler can say what to do about a call of them.
//!
//! Without them the compiler says that there is no such method. Each has a bound that nothing fulfils, and the trait in that bound names what is missing:
//! a feature that is off, or the place where the method is. Arguments and results are of any type, so that the mistake causes no further error.
//! Types of features that are off need no stand-in: the compiler finds the `pub use` that is configured out, and shows its line.

#![allow(dead_code, reason = "which of them are used depends on the features")]

use std::marker::PhantomData;

/// Subject of the bounds. Its lifetime keeps the compiler from looking at them before somebody calls the method.
#[derive(Debug)]
pub struct Unavailable<'a>(PhantomData<&'a ()>);

/// Declares methods of a type of which no call compiles, for a reason that the trait behind `where` names.
macro_rules! unavailable {
    (impl $owner:ty where $reason:path {$(
        fn $name:ident $(<$($param:ident),+>)? ($($argument:tt)*) -> $result:ty $(where { $($bound:tt)* })?;
    )*}) => {
        #[doc(hidden)]
        #[allow(missing_docs, reason = "they are not part of the documentation")]
        impl $owner {$(
            pub fn $name $(<$($param),+>)? ($($argument)*) -> $result
            where
                for<'a> $crate::unavailable::Unavailable<'a>: $reason,
                // Implied by the bound above. With it rustc does not show where that bound stands.
                for<'a> <$crate::unavailable::Unavailable<'a> as $reason>::Any: Sized,
                $($($bound)*)?
            {
                unreachable!("no call of it compiles")
            }
        )*}
    };
}
pub(crate) use unavailable;

#[diagnostic::on_unimplemented(
    message = "this method needs the feature `stdio` of mcp-runtime",
    label = "the feature `stdio` is off",
    note = "to turn it on, run `cargo add mcp-runtime --features stdio`"
)]
pub trait StdioFeature {
    type Any;
}

#[diagnostic::on_unimplemented(
    message = "this method needs the feature `http` of mcp-runtime",
    label = "the feature `http` is off",
    note = "to turn it on, run `cargo add mcp-runtime --features http`"
)]
pub trait HttpFeature {
    type Any;
}

#[diagnostic::on_unimplemented(
    message = "this method needs the feature `axum` of mcp-runtime",
    label = "the feature `axum` is off",
    note = "to turn it on, run `cargo add mcp-runtime --features axum`"
)]
pub trait AxumFeature {
    type Any;
}

#[diagnostic::on_unimplemented(
    message = "this method needs the feature `auth` of mcp-runtime",
    label = "the feature `auth` is off",
    note = "to turn it on, run `cargo add mcp-runtime --features auth`"
)]
pub trait AuthFeature {
    type Any;
}

#[diagnostic::on_unimplemented(
    message = "this method needs the feature `state-key` of mcp-runtime",
    label = "the feature `state-key` is off",
    note = "to turn it on, run `cargo add mcp-runtime --features state-key`"
)]
pub trait StateKeyFeature {
    type Any;
}

/// Of both parameters of a policy. They have a type so that rustc reports no second error about a closure.
pub type OfPolicy = <Unavailable<'static> as AuthFeature>::Any;

/// The only type with the trait. Because of it rustc reports no second error about an argument whose type it does not know, such as that of `Jwt::new(…)`.
enum Anything {}

#[diagnostic::do_not_recommend]
impl AuthFeature for Anything {
    type Any = Self;
}
