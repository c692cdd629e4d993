//! Schemas that are rendered at compile time: the parameters and the result of a tool as static bytes of JSON, in the client-compatible
//! form, without schemars.
//!
//! schemars defines what a schema *means*, and constants can express a part of that: [`Schema`] gives a type a [`Node`], and [`render`]
//! writes the text. A test for every type compares the text with the output of schemars and the rules of [`compatible`](super::compatible).
//! A type without a node, and every type that contains it, goes through schemars at first use. A struct with one such field asks schemars
//! for that field alone ([`partial`]).
//!
//! [`Schema`] is implemented for std's types in [`std_types`], and for types with `#[derive(Schema)]` or `#[data]`. The parameters of a
//! tool decide whether the compiler or schemars makes its schema: [`InputSchema`](crate::item::InputSchema).

mod description;
mod facts;
#[cfg(feature = "stdio")]
mod gap;
mod node;
mod notes;
mod partial;
mod render;
mod schema;
mod std_types;

pub(crate) use super::const_text::{MOST, Out, dot_before, equal, panic_with};
pub(crate) use facts::MOST_NODES;
#[cfg(feature = "stdio")]
pub(crate) use gap::short;
pub use node::{Branch, Member, Name, Node, Object};
#[cfg(test)]
pub(crate) use node::{NodeShape, SchemarsAnswer};
pub use notes::Literal;
pub(crate) use notes::{Notes, SchemaDefault};
pub(crate) use partial::partial_schema;
pub use partial::{LazyLevel, OfSchemars, UnfitLazyLevel};
pub(crate) use render::{write as write_node, write_root};
pub use schema::{
    Body, Depth, Described, Full, Known, NotKnown, NotSerialized, Part, Schema, Serialized, Top,
};
