//! JSON-RPC 2.0 as bytes: reading one message or batch, and writing responses.
//!
//! This module knows nothing of MCP. A parsed message borrows from the received bytes: one pass validates the text and takes the envelope
//! apart, and parameters stay text until they are read into the user's own type. Reading a typical message allocates nothing. Strings with
//! escapes, batches, and values with many members or deep nesting do allocate. Messages are written straight into the buffer that the
//! transport sends, and never contain a raw newline.

mod envelope;
mod id;
mod integer;
mod json;
mod malformed;
mod message;
mod names;
mod nesting;
mod noted;
mod params;
mod raw;
mod scan;
pub(crate) mod write;

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod one_pass;

pub(crate) use self::{
    envelope::{error, notification, request, response},
    id::{Id, IdBuf},
    integer::Integer,
    json::validate,
    malformed::Malformed,
    message::{Incoming, Invalid, Limits, Message, Parsed, parse},
    noted::Known,
    params::{Params, USUAL_META},
    raw::{Kind, Raw},
    write::{Array, Object},
};
