//! Turns bytes into operations and outcomes into bytes. Both eras of the protocol can be used on one connection at the same time.
//!
//! The era is decided for each message, never for a connection (rule C-01). Nothing here does I/O: [`Peer::receive`] runs in a unit test
//! without a runtime, and transports carry what the [`Outbox`](outbox::Outbox) holds.

mod backlog;
mod call;
mod channel;
mod encode;
mod legacy;
mod listen;
mod method;
#[cfg(feature = "http")]
mod mirrored;
mod modern;
mod outbox;
mod pages;
mod peer;
mod questions;
mod remembered;
mod request;
mod revision;
#[cfg(feature = "auth")]
mod rights;
#[cfg(feature = "http")]
mod route;
mod service;
mod shared;
mod tasks;
mod turn;
mod uris;

pub(crate) use call::PendingCall;
#[cfg(feature = "http")]
pub(crate) use call::ReplyTo;
pub(crate) use encode::listed;
#[cfg(feature = "http")]
pub(crate) use encode::unread;
#[cfg(feature = "bench")]
pub(crate) use encode::{AnswerScope, answer};
#[cfg(all(feature = "http", feature = "stdio"))]
pub(crate) use modern::example_request;
#[cfg(feature = "http")]
pub(crate) use outbox::{Outbox, OutboxHold};
#[cfg(feature = "http")]
pub(crate) use peer::Era;
pub(crate) use peer::{Arrival, Peer};
#[cfg(feature = "http")]
pub(crate) use remembered::Remembered;
pub use revision::Revision;
#[cfg(feature = "http")]
pub(crate) use route::{Route, VERSION_HEADER, route};
pub(crate) use service::{Service, presented};
pub(crate) use turn::Received;
#[cfg(feature = "http")]
pub(crate) use turn::RefusalStatus;
