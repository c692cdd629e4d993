//! Schemas that the compiler renders: a tool's parameters and its result as static bytes of JSON, in the client-compatible
//! form, without schemars.
//!
//! schemars stays what a schema *means*. This is the part of it that constants can say: [`Schema`] gives a type a [`Node`],
//! [`sheet`] makes the text of one, and a test for every type holds it equal to what schemars and the rules
//! of [`compatible`](super::compatible) make. A type without a node, and whatever contains it, goes through schemars at first use, and a struct with
//! one such field asks it for that field alone ([`value`]).
//!
//! Who implements [`Schema`]: std's types in [`known`], and what `#[derive(Schema)]` or `#[data]` is on. Which of the two ways a
//! tool goes, its parameters decide: [`InputSchema`](crate::item::InputSchema).

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
