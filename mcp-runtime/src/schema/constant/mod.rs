//! Schemas that the compiler renders: the parameters and the result of a tool as static bytes of JSON, in the client-compatible form,
//! without schemars.
//!
//! schemars defines what a schema *means*, and constants can express a part of that: [`Schema`] gives a type a [`Node`], and [`sheet`]
//! writes the text. A test for every type compares the text with what schemars and the rules of [`compatible`](super::compatible) make. A
//! type without a node, and every type that contains it, goes through schemars at first use. A struct with one such field asks schemars for
//! that field alone ([`value`]).
//!
//! [`Schema`] is implemented for std's types in [`known`], and for types with `#[derive(Schema)]` or `#[data]`. The parameters of a tool
//! decide whether the compiler or schemars makes its schema: [`InputSchema`](crate::item::InputSchema).

mod alike;
mod depth;
mod facts;
#[cfg(feature = "stdio")]
mod gap;
mod known;
mod node;
mod notes;
mod probe;
mod refuse;
mod sheet;
mod value;
mod write;

pub(crate) use alike::equal;
pub use depth::{Body, Depth, Described, Full, Part, Top};
pub(crate) use facts::MOST_NODES;
#[cfg(feature = "stdio")]
pub(crate) use gap::short;
#[cfg(test)]
pub(crate) use node::What;
pub use node::{Branch, Member, Name, Node, Object, Schema};
pub use notes::Literal;
pub(crate) use notes::{Default, Notes};
pub use probe::{Known, NotKnown, NotSerialized, Serialized};
pub(crate) use refuse::{dot_before, panic_with};
pub(crate) use sheet::{write as write_node, write_root};
#[cfg(test)]
pub(crate) use value::Asked;
pub(crate) use value::value;
pub use value::{LazyLevel, OfSchemars, UnfitLazyLevel};
pub(crate) use write::{MOST, Out};
