//! Code generation. The model has been checked before, so this phase makes no decisions and reports no errors.

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
