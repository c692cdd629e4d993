//! Readers for single values that clients send: arguments as JSON or text, answers to forms, and headers that repeat arguments.
//!
//! A reader depends only on the value and its type, not on the call.

mod error;
#[allow(missing_docs, reason = "public only for generated code, but for its two traits")]
mod form;
#[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has headers"))]
pub(crate) mod header;
pub(crate) mod introspect;
pub(crate) mod json;
mod key;
mod locate;
pub(crate) mod reader;
pub(crate) mod text;
pub(crate) mod unknown;
mod unskipped;

pub(crate) use form::read as read_form;
pub use form::{BoundedForm, Form, FormChoice, FormField, choices, field, form};
