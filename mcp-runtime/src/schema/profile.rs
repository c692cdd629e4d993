//! Purpose of a published schema: the profile of the server, and the side of a tool that the schema describes.

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
    /// Schemas that every known client reads: no `$schema`, references written out, one `type` per schema, no formats that are specific to
    /// Rust, a plain type for an `Option`. In an argument, a format, an example or the order of a tuple becomes a sentence of the
    /// description. The published schema of an argument may be narrower than what the server accepts.
    #[default]
    Compatible,
    /// All of JSON Schema 2020-12 as the types describe themselves, for clients that are known to read it.
    Full,
}

/// Side of a tool that a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaSide {
    Argument,
    Result,
}

/// JSON object of which schemas are made.
pub(crate) type Map = serde_json::Map<String, serde_json::Value>;

/// Creates the generator for every schema that is made at run time. A test listens to the event, to detect such schemas.
pub(crate) fn generator(settings: schemars::generate::SchemaSettings) -> schemars::SchemaGenerator {
    tracing::trace!(target: "mcp_runtime::schema", "a schema is made at run time");
    settings.into_generator()
}
