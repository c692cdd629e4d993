//! Code generation. The model has been checked before, so nothing is decided here and no error is reported.

pub(crate) mod data;
mod definition;
pub(crate) mod form;
pub(crate) mod item;
pub(crate) mod mark;
mod param;
pub(crate) mod schema;
pub(crate) mod server;
mod snippets;
mod target;

pub(crate) use snippets::{beside, root};
