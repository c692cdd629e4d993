//! Models of what the author wrote: functions, impl blocks, forms and types. They borrow the syntax trees of syn.

pub(crate) mod config;
pub(crate) mod data;
pub(crate) mod form;
pub(crate) mod function;
pub(crate) mod half_typed;
mod handler;
mod held_thread;
pub(crate) mod impl_block;
pub(crate) mod schema;
mod schema_attrs;
pub(crate) mod signature;
pub(crate) mod tokens;

pub(crate) use function::Kind;
pub(crate) use handler::{Item, Mode, Param, Place, Role};
