//! JSON Schemas of arguments and results, as they are published to clients.
//!
//! schemars describes what a type means. This module turns that into the published text: the form that every known client reads
//! ([`compatible`]), or all of 2020-12 ([`full`]). It runs once per item, so it works on [`serde_json::Value`] and not on bytes.
//!
//! [`full`]: compatible::full

pub(crate) mod compatible;
#[allow(missing_docs, reason = "public only for generated code, but for the trait `Schema`")]
pub(crate) mod constant;
pub(crate) mod constraint;
mod definitions;
pub(crate) mod header;
#[allow(missing_docs, reason = "public only for generated code")]
mod held;
mod input;
pub(crate) mod object;
pub(crate) mod output;
mod pattern;
mod range;
mod sampling;

pub(crate) use constraint::{Constraints, Kind};
pub use held::{Data, Held, Whole};
pub(crate) use input::input_of;
pub use pattern::CompiledPattern;
pub(crate) use range::Edge;
pub use range::Range;

/// Creates the generator of every schema that the compiler does not make. A test listens to the event, to notice schemas that are made at
/// run time.
pub(crate) fn generator(settings: schemars::generate::SchemaSettings) -> schemars::SchemaGenerator {
    tracing::trace!(target: "mcp_runtime::schema", "a schema is made at run time");
    settings.into_generator()
}

/// The JSON object schemas are made of.
pub(crate) type Map = serde_json::Map<String, serde_json::Value>;

/// Reads the schema of `input_schema = …`: JSON text, or a value that serializes to the schema. It is published as given.
///
/// # Errors
///
/// Fails if the text is no JSON, or the schema is no object schema. The protocol requires an object schema of every tool.
pub fn given(schema: impl serde::Serialize) -> Result<Box<str>, String> {
    let wrong =
        |problem: &dyn std::fmt::Display| format!("`input_schema` is not usable: {problem}");
    let mut value = serde_json::to_value(&schema).map_err(|error| wrong(&error))?;
    if let serde_json::Value::String(text) = &value {
        value = serde_json::from_str(text).map_err(|error| wrong(&error))?;
    }
    if value.get("type").is_none_or(|it| it != "object") {
        return Err(wrong(&"its root must say `\"type\": \"object\"`"));
    }
    Ok(value.to_string().into_boxed_str())
}

/// How much of JSON Schema the published schemas of tools use.
///
/// Set it for a server with `server!().schema_profile(…)`. A tool with `schema = "full"` or `schema = "compatible"` overrides it.
///
/// ```
/// use mcp_runtime::SchemaProfile;
///
/// let server = mcp_runtime::server!().schema_profile(SchemaProfile::Full);
/// # let _ = server;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SchemaProfile {
    /// Schemas that every known client reads: no `$schema`, references written out, one `type` per schema, no formats of Rust's own, a
    /// plain type for an `Option`. In an argument, a format, an example or the order of a tuple becomes a sentence of the description. The
    /// published schema of an argument may be narrower than what the server accepts.
    #[default]
    Compatible,
    /// All of JSON Schema 2020-12 as the types describe themselves, for clients that are known to read it.
    Full,
}
