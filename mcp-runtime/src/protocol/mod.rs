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
mod shared;
mod tasks;
mod turn;
mod uris;

use std::sync::Arc;

pub(crate) use call::PendingCall;
#[cfg(feature = "http")]
pub(crate) use call::ReplyTo;
#[cfg(feature = "http")]
pub(crate) use encode::unread;
#[cfg(feature = "bench")]
pub(crate) use encode::{AnswerScope, answer};
pub(crate) use encode::{listed, presented};
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
pub(crate) use turn::Received;
#[cfg(feature = "http")]
pub(crate) use turn::RefusalStatus;

use crate::{
    ask::RoundStates,
    builder::{Identity, Started},
    dispatch::Dispatcher,
    error::Error,
    limits::{Limit, Limits, Room, Shares, Tally},
    task::Tasks,
    wire::{Invalid, Malformed, Object},
};

/// State that all connections of a server share.
pub(crate) struct Service {
    pub(crate) identity: Arc<Identity>,
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) limits: Limits,
    tasks: Arc<Tasks>,
    /// Bytes of large messages that are being read or whose calls run.
    pub(crate) bodies: Arc<Room>,
    /// JSON text of the server's `Implementation`, for every result of the modern era.
    server_info: String,
    round_states: Arc<RoundStates>,
}

impl Service {
    /// Returns the number of calls that wait for their handlers.
    #[cfg(feature = "http")]
    pub(crate) fn calls_waiting(&self) -> usize {
        self.shares().used(crate::limits::Pool::Calls)
    }

    pub(crate) fn tally(&self) -> &Arc<Tally> {
        &self.dispatcher.catalog.tally
    }

    /// Returns the shares of the resources that all clients use together.
    pub(crate) fn shares(&self) -> &Shares {
        &self.dispatcher.catalog.shares
    }

    /// Counts a refusal by this limit, and returns its error.
    pub(crate) fn note(&self, limit: Limit, error: Error) -> Error {
        self.tally().refuse(limit);
        error
    }

    /// Counts a message that cannot be read because it is nested too deeply.
    pub(crate) fn note_malformed(&self, malformed: &Malformed) {
        if matches!(malformed, Malformed::TooDeep { .. }) {
            self.tally().refuse(Limit::Depth);
        }
    }

    /// Counts a batch of too many messages.
    pub(crate) fn note_invalid(&self, invalid: &Invalid<'_>) {
        if invalid.is_long_batch() {
            self.tally().refuse(Limit::Batch);
        }
    }

    pub(crate) fn new(started: &Started) -> Arc<Self> {
        let mut info = Vec::new();
        let mut object = Object::begin(&mut info);
        encode::implementation(&mut object, Revision::MODERN[0], &started.identity);
        object.end();
        Arc::new(Self {
            identity: started.identity.clone(),
            dispatcher: started.dispatcher.clone(),
            limits: started.limits,
            tasks: started.tasks.clone(),
            bodies: Arc::default(),
            server_info: String::from_utf8(info).unwrap_or_default(),
            round_states: started.round_states.clone(),
        })
    }
}
