//! What clients are told about arguments and results.
//!
//! schemars says what a type means; this room turns that into the text that is published: the form every known client
//! reads ([`compatible`]) or all of 2020-12 ([`full`]). It runs once per item, so it works on
//! [`serde_json::Value`] and not on bytes.
//!
//! [`full`]: compatible::full

pub(crate) mod compatible;
pub(crate) mod constraint;
mod definitions;
pub(crate) mod object;
pub(crate) mod output;
mod range;
#[cfg(test)]
mod validator;

pub(crate) use constraint::{Constraints, Kind};
pub use range::Range;

/// The JSON object schemas are made of.
pub(crate) type Map = serde_json::Map<String, serde_json::Value>;

/// Which of its two forms a schema is published in: `schema = "compatible"` (the default) or `schema = "full"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Form {
    #[default]
    Compatible,
    Full,
}
