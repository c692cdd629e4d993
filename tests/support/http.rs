//! HTTP as bytes: a client that can send requests that no library would send, and recorded conversations over HTTP.
//!
//! - [`head`], [`body`], [`events`]: strict parsers for the parts of a response.
//! - [`connection`]: one connection to a server.
//! - [`transcript`], [`request`], [`expected`], [`replay`]: recorded conversations, the requests of their client,
//!   the responses and events they expect, and their replay against a server.

pub mod body;
pub mod connection;
pub mod events;
pub mod expected;
pub mod head;
pub mod replay;
pub mod request;
pub mod transcript;

#[cfg(test)]
pub(crate) mod fake;
