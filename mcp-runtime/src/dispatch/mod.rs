//! Runs the operations that clients request, and returns their outcomes. This module does not depend on protocol revisions, and does no
//! I/O.
//!
//! If a handler is ready at its first poll, its call needs no tokio task, no timer and no entry in any table.

#[cfg_attr(
    not(any(feature = "http", all(feature = "stdio", unix))),
    allow(dead_code, reason = "only reactors of our own are watched")
)]
mod activity;
mod answer;
mod dispatcher;
mod pending;
mod request;
mod rights;

#[cfg(any(feature = "http", all(feature = "stdio", unix)))]
pub(crate) use activity::ReactorActivity;
#[cfg(feature = "http")]
pub(crate) use activity::Unresponsive;
pub(crate) use answer::CallSettings;
pub(crate) use dispatcher::{Around, Dispatcher};
pub use dispatcher::{Next, OperationCall};
pub(crate) use pending::{Dispatched, PendingHandler};
pub(crate) use request::{OwnedRequest, Reference, Request};
pub(crate) use rights::ItemRights;
