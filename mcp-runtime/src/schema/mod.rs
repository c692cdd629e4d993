//! JSON Schemas of arguments and results, as they are published to clients.
//!
//! schemars generates the schema of a type. This module turns that schema into the published text: the form that every known client reads
//! ([`compatible`]), or all of JSON Schema 2020-12 ([`full`]). The conversion runs once per item, so the cost of working on
//! [`serde_json::Value`] instead of bytes does not matter.
//!
//! [`full`]: compatible::full

pub(crate) mod compatible;
mod const_text;
#[allow(missing_docs, reason = "public only for generated code, but for the trait `Schema`")]
pub(crate) mod constant;
mod constraint;
mod definitions;
#[allow(missing_docs, reason = "public only for generated code")]
mod field_bound;
pub(crate) mod header;
mod input;
mod kind;
mod output;
mod pattern;
mod profile;
mod range;
mod required;
mod sentences;

pub(crate) use constraint::Constraints;
#[cfg(feature = "stdio")]
pub(crate) use definitions::has_keyword;
pub use field_bound::{Data, FieldBound, Whole};
pub use input::input_schema;
pub(crate) use input::{
    InputField, InputObject, given_input, given_input_text, input_of, not_usable,
};
pub(crate) use kind::SchemaKind;
pub(crate) use output::given_output;
pub use output::{ResultSchema, output_schema};
pub use pattern::CompiledPattern;
pub use profile::SchemaProfile;
pub(crate) use profile::{Map, SchemaSide, generator};
pub use range::Range;
pub(crate) use required::argument_schema;
