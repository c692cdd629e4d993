//! Schemas that are rendered at compile time. The schemas of a tool's parameters and result become static JSON text in the
//! client-compatible form, without schemars.
//!
//! The trait [`Schema`] describes a type as a [`Node`], and [`render`] writes the JSON text of the node. For every type, a test compares
//! this text with the output of schemars after the rules of [`compatible`](super::compatible). Constants cannot describe every type. If a
//! type has no node, schemars generates the schema of that type, and of every type that contains it, when the server starts. For a struct that has
//! such a field, schemars describes only that field ([`partial`]).
//!
//! [`Schema`] is implemented for std's types in [`std_types`], and for types with `#[derive(Schema)]` or `#[data]`.
//! [`InputSchema`](crate::item::InputSchema) shows how the parameters of a tool decide whether the compiler or schemars generates the
//! tool's schema.

mod description;
mod facts;
#[cfg_attr(not(feature = "stdio"), allow(dead_code, reason = "only the command line tells"))]
mod gap;
mod node;
mod notes;
mod partial;
mod render;
mod schema;
mod std_types;

pub(crate) use super::const_text::{MOST, Out, dot_before, equal, panic_with};
pub(crate) use facts::MOST_NODES;
pub(crate) use gap::short;
pub use node::{Branch, Member, Name, Node, Object};
#[cfg(test)]
pub(crate) use node::{NodeShape, SchemarsAnswer};
pub use notes::Literal;
pub(crate) use notes::{Notes, SchemaDefault};
pub(crate) use partial::partial_schema;
pub use partial::{LazyArgumentLevel, LazyLevel, OfSchemars, UnfitLazyLevel};
pub(crate) use render::{write as write_node, write_root};
pub use schema::{
    Body, Depth, Described, Full, Known, NotKnown, NotSerialized, Part, Schema, Serialized, Top,
};
pub(crate) use std_types::ANY_RESULT;
