//! Methods that authors look for on a [`Context`], because other frameworks have them there.

use std::future::Ready;

use super::Context;
use crate::unavailable::unavailable;

#[diagnostic::on_unimplemented(
    message = "a `Context` does not log: events of `tracing` go to the client that asked for them",
    label = "not a method of `Context`",
    note = "run `cargo add tracing`, and write `tracing::info!(\"…\")` here, or `debug`, `warn`, `error` for `info`"
)]
pub trait LogsThroughTracing {
    type Any;
}

#[diagnostic::on_unimplemented(
    message = "a `Context` reports no progress itself, its `Progress` does",
    label = "not a method of `Context`",
    note = "write `.progress().total(total).report(done)`, or take a parameter `progress: Progress`"
)]
pub trait ReportsThroughProgress {
    type Any;
}

unavailable! {
    impl Context where LogsThroughTracing {
        fn debug<M>(&self, _: M) -> Ready<()>;
        fn info<M>(&self, _: M) -> Ready<()>;
        fn warn<M>(&self, _: M) -> Ready<()>;
        fn warning<M>(&self, _: M) -> Ready<()>;
        fn error<M>(&self, _: M) -> Ready<()>;
        fn log<L, M>(&self, _: L, _: M) -> Ready<()>;
    }
}

unavailable! {
    impl Context where ReportsThroughProgress {
        fn report_progress<D, T>(&self, _: D, _: T) -> Ready<()>;
    }
}
