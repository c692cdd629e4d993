//! Bytes and sessions to operations, outcomes to bytes: both eras of the protocol, on one connection at once.
//!
//! The era is decided for each message, never for a connection (C-01). Nothing here does I/O:
//! [`Peer::receive`] runs in a unit test without a runtime, and transports carry what the
//! [`Outbox`](outbox::Outbox) holds.

mod call;
mod channel;
mod encode;
mod legacy;
mod listen;
mod method;
mod modern;
pub(crate) mod outbox;
mod peer;
mod request;
mod revision;
mod shared;

use std::sync::Arc;

pub(crate) use call::PendingCall;
pub(crate) use peer::Peer;
pub use revision::Revision;

use crate::{
    builder::{Identity, Started},
    dispatch::Dispatcher,
    error::Error,
    wire::Object,
};

/// What all connections of a server share.
pub(crate) struct Service {
    pub(crate) identity: Arc<Identity>,
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) limits: Limits,
    /// The server's `Implementation` for every result of the modern era, JSON text.
    server_info: String,
}

/// How much one peer may ask for. Each has an answer of its own when it is passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes of one message.
    pub(crate) message: usize,
    /// Arrays and objects inside one another.
    pub(crate) depth: usize,
    /// Messages in a batch.
    pub(crate) batch: usize,
    /// Calls that wait at once.
    pub(crate) in_flight: usize,
    /// Bytes of a URI that is subscribed to.
    pub(crate) uri: usize,
    /// Resources a session may subscribe to, and the same for all its listen streams together.
    pub(crate) subscriptions: usize,
    /// Listen streams at once.
    pub(crate) listens: usize,
}

impl Limits {
    /// Whether a URI may be subscribed to: it is kept as long as the subscription.
    fn check_uri(&self, uri: &str) -> Result<(), Error> {
        if uri.len() <= self.uri {
            return Ok(());
        }
        Err(method::invalid(format_args!(
            "a URI of {} bytes is too long to subscribe to: at most {}",
            uri.len(),
            self.uri
        )))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: 16 << 20,
            depth: 128,
            batch: 100,
            in_flight: 1024,
            uri: 8 << 10,
            subscriptions: 4096,
            listens: 64,
        }
    }
}

impl Service {
    pub(crate) fn new(started: &Started) -> Arc<Self> {
        let mut info = Vec::new();
        let mut object = Object::begin(&mut info);
        encode::implementation(&mut object, Revision::MODERN[0], &started.identity);
        object.end();
        Arc::new(Self {
            identity: started.identity.clone(),
            dispatcher: started.dispatcher.clone(),
            limits: Limits::default(),
            server_info: String::from_utf8(info).unwrap_or_default(),
        })
    }
}
