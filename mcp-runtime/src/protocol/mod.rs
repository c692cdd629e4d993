//! Turns bytes into operations, and outcomes into bytes. Both eras of the protocol (with and without a handshake) can be used on one
//! connection at the same time.
//!
//! The era is decided for each message, never for a connection (rule C-01). This module does no I/O: a unit test can call [`Peer::receive`]
//! without a runtime, and transports send the messages that wait in the [`Outbox`](outbox::Outbox).
//!
//! Modules from bottom to top: `revision`, `service`, `encode`; the outbound half `outbox`; the state of a peer in `subscriptions`, `session`,
//! `state` and `saved_session`; `call`, `request` and `headers`; features as functions that take the state: `admission`, `deferred`,
//! `questions`, `tasks`, `operate`, `listen`; the eras `legacy` and `modern`; and `peer`.

mod admission;
mod call;
mod deferred;
mod encode;
#[cfg(feature = "http")]
mod headers;
mod legacy;
mod listen;
mod modern;
mod operate;
mod outbox;
mod peer;
mod questions;
mod request;
mod revision;
#[cfg(feature = "http")]
mod saved_session;
mod service;
mod session;
mod state;
mod subscriptions;
mod tasks;

pub(crate) use call::{PendingCall, Received};
#[cfg(feature = "http")]
pub(crate) use call::{RefusalStatus, ReplyTo};
#[cfg(feature = "http")]
pub(crate) use encode::unread;
#[cfg(feature = "bench")]
pub(crate) use encode::{AnswerScope, answer};
pub(crate) use encode::{listed, written_question};
#[cfg(feature = "http")]
pub(crate) use headers::{Route, VERSION_HEADER, route};
#[cfg(feature = "http")]
pub(crate) use outbox::{Outbox, OutboxHold, ResponseRefusal};
#[cfg(feature = "http")]
pub(crate) use peer::Era;
pub(crate) use peer::{Arrival, Peer};
#[cfg(all(feature = "http", feature = "stdio"))]
pub(crate) use request::example_request;
pub use revision::Revision;
#[cfg(feature = "http")]
pub(crate) use saved_session::{SavedClient, SessionSettings, SettingsChange};
pub(crate) use service::{Service, TASKS_EXTENSION, presented};
#[cfg(feature = "http")]
pub(crate) use state::Remembered;
