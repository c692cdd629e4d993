//! Methods that authors look for on a [`Context`], because other frameworks have them there.
//!
//! Each has a bound that nothing fulfils, and the trait in it says where the method is: without them the compiler only says that there is none.

use std::{
    future::{Ready, ready},
    marker::PhantomData,
};

use super::Context;

/// Subject of the bounds. Its lifetime keeps the compiler from looking at them before somebody calls the method.
#[derive(Debug)]
pub struct Elsewhere<'a>(PhantomData<&'a ()>);

#[diagnostic::on_unimplemented(
    message = "a `Context` does not log: events of `tracing` go to the client that asked for them",
    label = "not a method of `Context`",
    note = "run `cargo add tracing`, and write `tracing::info!(\"…\")` here, or `debug`, `warn`, `error` for `info`"
)]
pub trait LogsThroughTracing {}

#[diagnostic::on_unimplemented(
    message = "a `Context` reports no progress itself, its `Progress` does",
    label = "not a method of `Context`",
    note = "write `.progress().total(total).report(done)`, or take a parameter `progress: Progress`"
)]
pub trait ReportsThroughProgress {}

#[doc(hidden)]
impl Context {
    pub fn debug<M>(&self, _: M) -> Ready<()>
    where
        for<'a> Elsewhere<'a>: LogsThroughTracing,
    {
        ready(())
    }

    pub fn info<M>(&self, _: M) -> Ready<()>
    where
        for<'a> Elsewhere<'a>: LogsThroughTracing,
    {
        ready(())
    }

    pub fn warn<M>(&self, _: M) -> Ready<()>
    where
        for<'a> Elsewhere<'a>: LogsThroughTracing,
    {
        ready(())
    }

    pub fn warning<M>(&self, _: M) -> Ready<()>
    where
        for<'a> Elsewhere<'a>: LogsThroughTracing,
    {
        ready(())
    }

    pub fn error<M>(&self, _: M) -> Ready<()>
    where
        for<'a> Elsewhere<'a>: LogsThroughTracing,
    {
        ready(())
    }

    pub fn log<L, M>(&self, _: L, _: M) -> Ready<()>
    where
        for<'a> Elsewhere<'a>: LogsThroughTracing,
    {
        ready(())
    }

    pub fn report_progress<D, T>(&self, _: D, _: T) -> Ready<()>
    where
        for<'a> Elsewhere<'a>: ReportsThroughProgress,
    {
        ready(())
    }
}
