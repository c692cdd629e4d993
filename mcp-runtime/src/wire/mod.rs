//! JSON-RPC 2.0 as bytes: reading one message or batch, and writing answers.
//!
//! This room knows nothing of MCP. What it reads it borrows from the bytes it was given: the envelope is taken apart in
//! the same pass that validates the text, parameters stay text until they are read into the user's own type, and
//! nothing is allocated unless a string that somebody asks for has escapes. What it writes goes straight into the
//! buffer that the transport sends, and never contains a raw newline.

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
