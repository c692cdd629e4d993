//! HTTP as bytes: a client that can send what no library would, and recorded conversations over it.
//!
//! - [`head`], [`body`], [`events`]: the parts of a response, read strictly, as they arrive.
//! - [`connection`]: one connection to a server.
//! - [`transcript`], [`request`], [`expected`], [`replay`]: recorded conversations, what their client
//!   sends, what their server must say, and how they are held against a server.

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
