//! Code generation. The phase `check` has already found all mistakes in the model, so this phase reports no errors.

pub(crate) mod config;
pub(crate) mod data;
mod definition;
pub(crate) mod form;
pub(crate) mod item;
mod mark;
mod param;
pub(crate) mod schema;
pub(crate) mod server;
mod snippets;
mod target;

pub(crate) use snippets::{beside, root};
