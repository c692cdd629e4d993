//! Stand-ins for the methods of features that are off.
//!
//! Without them the compiler says that a `Builder` has no such method. Each has a bound that nothing fulfils, and the trait in that bound names the
//! feature. Arguments and results are of any type, so that the mistake causes no further error.
//! Types of such features need no stand-in: the compiler finds the `pub use` that is configured out, and shows its line.

#![allow(dead_code, reason = "which of them are used depends on the features")]

use std::{future::Ready, marker::PhantomData};

use super::Builder;
use crate::error::ServeError;

/// Subject of the bounds. Its lifetime keeps the compiler from looking at them before somebody calls the method.
#[derive(Debug)]
pub struct Disabled<'a>(PhantomData<&'a ()>);

/// Result of a method that starts the server.
type StartResult<T> = Ready<Result<T, ServeError>>;

#[diagnostic::on_unimplemented(
    message = "this method needs the feature `stdio` of mcp-runtime",
    label = "the feature `stdio` is off",
    note = "to turn it on, run `cargo add mcp-runtime --features stdio`"
)]
pub trait StdioFeature {}

#[diagnostic::on_unimplemented(
    message = "this method needs the feature `http` of mcp-runtime",
    label = "the feature `http` is off",
    note = "to turn it on, run `cargo add mcp-runtime --features http`"
)]
pub trait HttpFeature {}

#[diagnostic::on_unimplemented(
    message = "this method needs the feature `axum` of mcp-runtime",
    label = "the feature `axum` is off",
    note = "to turn it on, run `cargo add mcp-runtime --features axum`"
)]
pub trait AxumFeature {}

#[diagnostic::on_unimplemented(
    message = "this method needs the feature `auth` of mcp-runtime",
    label = "the feature `auth` is off",
    note = "to turn it on, run `cargo add mcp-runtime --features auth`"
)]
pub trait AuthFeature {
    type Caller;
    type Access;
}

#[diagnostic::on_unimplemented(
    message = "this method needs the feature `state-key` of mcp-runtime",
    label = "the feature `state-key` is off",
    note = "to turn it on, run `cargo add mcp-runtime --features state-key`"
)]
pub trait StateKeyFeature {}

#[doc(hidden)]
#[cfg(not(feature = "stdio"))]
impl Builder {
    pub fn run<T>(self) -> T
    where
        for<'a> Disabled<'a>: StdioFeature,
    {
        unreachable!()
    }

    pub fn serve_stdio(self) -> StartResult<()>
    where
        for<'a> Disabled<'a>: StdioFeature,
    {
        unreachable!()
    }
}

#[doc(hidden)]
#[cfg(not(feature = "http"))]
impl Builder {
    pub fn path<P>(self, _: P) -> Self
    where
        for<'a> Disabled<'a>: HttpFeature,
    {
        unreachable!()
    }

    pub fn allow_host<H>(self, _: H) -> Self
    where
        for<'a> Disabled<'a>: HttpFeature,
    {
        unreachable!()
    }

    pub fn allow_origin<O>(self, _: O) -> Self
    where
        for<'a> Disabled<'a>: HttpFeature,
    {
        unreachable!()
    }

    pub fn trust_proxy<N>(self, _: N) -> Self
    where
        for<'a> Disabled<'a>: HttpFeature,
    {
        unreachable!()
    }

    pub fn legacy_sse<S>(self, _: S) -> Self
    where
        for<'a> Disabled<'a>: HttpFeature,
    {
        unreachable!()
    }

    pub fn serve_http<A>(self, _: A) -> StartResult<()>
    where
        for<'a> Disabled<'a>: HttpFeature,
    {
        unreachable!()
    }

    pub fn bind_http<A, T>(self, _: A) -> StartResult<T>
    where
        for<'a> Disabled<'a>: HttpFeature,
    {
        unreachable!()
    }

    pub fn into_service<T>(self) -> StartResult<T>
    where
        for<'a> Disabled<'a>: HttpFeature,
    {
        unreachable!()
    }
}

#[doc(hidden)]
#[cfg(not(feature = "axum"))]
impl Builder {
    pub fn into_router<T>(self) -> StartResult<T>
    where
        for<'a> Disabled<'a>: AxumFeature,
    {
        unreachable!()
    }
}

#[doc(hidden)]
#[cfg(not(feature = "state-key"))]
impl Builder {
    pub fn state_key<K>(self, _: K) -> Self
    where
        for<'a> Disabled<'a>: StateKeyFeature,
    {
        unreachable!()
    }
}

#[doc(hidden)]
#[cfg(not(feature = "auth"))]
impl Builder {
    pub fn auth<R: AuthFeature>(self, _: R) -> Self {
        unreachable!()
    }

    pub fn policy<P>(self, _: P) -> Self
    where
        for<'a> Disabled<'a>: AuthFeature,
        P: Fn(
            &<Disabled<'static> as AuthFeature>::Caller,
            &<Disabled<'static> as AuthFeature>::Access,
        ) -> bool,
    {
        unreachable!()
    }
}

/// The only type with the trait. Because of it rustc reports no second error about an argument whose type it does not know, such as that of `Jwt::new(…)`.
enum Anything {}

#[diagnostic::do_not_recommend]
impl AuthFeature for Anything {
    type Caller = Self;
    type Access = Self;
}
