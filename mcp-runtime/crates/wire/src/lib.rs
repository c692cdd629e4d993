//! JSON-RPC 2.0 as bytes: reading one message or batch, and writing messages.
//!
//! This crate is a part of [mcp-runtime](https://docs.rs/mcp-runtime). The two crates are released together, and the names of this crate
//! may change in any release.
//!
//! The crate does not depend on MCP, except that it recognizes the names of members that most MCP messages have. A parsed message borrows
//! from the received bytes: one pass validates the text and finds the members of the envelope. Parameters stay text until they are
//! deserialized into a type of the user. Reading a typical message allocates nothing. Strings with escapes, batches, and values with many
//! members or deep nesting do allocate. Messages are written straight into the buffer that the transport sends, and never contain a raw
//! newline.
//!
//! ```
//! use mcp_runtime_wire::{Incoming, ParseLimits, Parsed, RpcMessage, parse, response};
//!
//! let text = br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
//! let (limits, mut parsed) = (ParseLimits { depth: 128, batch: 100 }, Parsed::default());
//! let Ok(Incoming::One(Ok(RpcMessage::Request { id, .. }))) =
//!     parse(text, limits, &mut parsed)
//! else {
//!     panic!("this is a request")
//! };
//! let mut out = Vec::new();
//! response(&mut out, id, |result| {
//!     result.bool("alive", true);
//! });
//! assert_eq!(out, br#"{"jsonrpc":"2.0","id":7,"result":{"alive":true}}"#);
//! ```

mod duplicates;
mod id;
mod integer;
mod message;
mod params;
mod raw;
mod scanner;
mod search;
pub mod write;

#[cfg(test)]
mod agreement;

pub use self::{
    duplicates::DuplicateName,
    id::{Id, IdBuf},
    integer::Integer,
    message::{
        BYTE_ORDER_MARK, Incoming, Invalid, ParseLimits, Parsed, RpcMessage, error, notification,
        parse, request, response,
    },
    params::{IndexedMember, IndexedObject, RpcParams, USUAL_META},
    raw::{Elements, JsonKind, Members, Raw},
    scanner::{Malformed, validate},
    write::{ArrayWriter, ObjectWriter},
};
