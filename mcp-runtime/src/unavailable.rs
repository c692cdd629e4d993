//! Methods that cannot be called. They exist so that the compiler can explain what to do instead.
//!
//! Without these methods the compiler would only report that there is no such method. Each method has a bound that no type fulfils. The
//! trait in the bound says what is missing: a disabled feature, or the type that has the method. Arguments and results may have any type,
//! so that the call causes no further error. Types of disabled features need no stand-in: the compiler finds the `pub use` that is
//! configured out, and shows its line.

#![allow(dead_code, reason = "which of them are used depends on the features")]

use std::marker::PhantomData;

/// Type that the bounds apply to. Its lifetime keeps the compiler from checking the bounds before the method is called.
#[derive(Debug)]
pub struct Unavailable<'a>(PhantomData<&'a ()>);

/// Declares methods of a type that cannot be called. The trait after the first `where` provides the reason that the compiler error shows.
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
                // Redundant, because it follows from the bound above. It keeps rustc from showing the source line of that bound in the
                // error.
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
    message = "this method needs the feature `playground` of mcp-runtime",
    label = "the feature `playground` is off",
    note = "to turn it on, run `cargo add mcp-runtime --features playground`"
)]
pub trait PlaygroundFeature {
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

/// Type of both parameters of a closure that is used as an authorization policy. Because the type is fixed, rustc reports no second error
/// about the closure.
pub type OfPolicy = <Unavailable<'static> as AuthFeature>::Any;

/// The only type that implements [`AuthFeature`]. Because of this impl, rustc reports no second error about an argument of unknown type,
/// such as `Jwt::new(…)`.
enum Anything {}

#[diagnostic::do_not_recommend]
impl AuthFeature for Anything {
    type Any = Self;
}
