//! What clients are told about arguments and results.
//!
//! schemars says what a type means; this room turns that into the text that is published: the form every known client
//! reads ([`compatible`]) or all of 2020-12 ([`full`]). It runs once per item, so it works on
//! [`serde_json::Value`] and not on bytes.
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
#[cfg(test)]
pub(crate) mod validator;

pub(crate) use constraint::{Constraints, Kind};
pub use held::{Data, Held, Whole};
pub(crate) use input::input_of;
pub use pattern::CompiledPattern;
pub(crate) use range::Edge;
pub use range::Range;

/// Where every schema starts that the compiler did not make. The event tells those who count on none that there was one.
pub(crate) fn generator(settings: schemars::generate::SchemaSettings) -> schemars::SchemaGenerator {
    tracing::trace!(target: "mcp_runtime::schema", "a schema is made at run time");
    settings.into_generator()
}

/// The JSON object schemas are made of.
pub(crate) type Map = serde_json::Map<String, serde_json::Value>;

/// `input_schema = …`: JSON text, or anything that serializes to the schema. It is published as it is given.
///
/// # Errors
///
/// The text is no JSON, or the schema is no object schema. The protocol requires an object schema of every tool.
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

/// How much of JSON Schema the published schemas of tools use: `server!().schema_profile(…)` for a server,
/// `schema = "full"` or `schema = "compatible"` for one tool, which goes before.
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
    /// What every known client reads: no `$schema`, references written out, one `type` per schema, no formats of Rust's own,
    /// a plain type for an `Option`. Of an argument, a format, an example or the order of a tuple is said in the description.
    /// What is published of an argument may be narrower than what is accepted.
    #[default]
    Compatible,
    /// All of JSON Schema 2020-12 as the types describe themselves, for clients that are known to read it.
    Full,
}
