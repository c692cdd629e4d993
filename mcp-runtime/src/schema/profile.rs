//! What decides how a schema is published: the profile ([`SchemaProfile`]), and whether the schema describes the arguments or the result of
//! a tool ([`SchemaSide`]).

/// Subset of JSON Schema that the published schemas of tools use.
///
/// [`Builder::schema_profile`](crate::Builder::schema_profile) sets the profile of a server. The key `schema` of `#[tool]` overrides the
/// profile for one tool: `schema = "full"` or `schema = "compatible"`. Use [`Full`](SchemaProfile::Full) only if all clients of the server
/// can read JSON Schema 2020-12. The default is [`Compatible`](SchemaProfile::Compatible).
///
/// Specification: Server features, Tools (`inputSchema` and `outputSchema`).
///
/// ```
/// use mcp_runtime::SchemaProfile;
///
/// fn server() -> mcp_runtime::Builder {
///     mcp_runtime::server!().schema_profile(SchemaProfile::Full)
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SchemaProfile {
    /// Schemas that every known client reads: no `$schema`, references written out, one `type` per schema, no formats that are specific to
    /// Rust, a plain type for an `Option`. In an argument, a format, an example or the order of a tuple becomes a sentence of the
    /// description. The published schema of an argument may be narrower than what the server accepts.
    #[default]
    Compatible,
    /// Schemas with all keywords of JSON Schema 2020-12, as schemars generates them from the types. `$schema` names the dialect.
    Full,
}

/// Whether a schema describes the arguments or the result of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaSide {
    Argument,
    Result,
}

/// JSON object that contains a schema.
pub(crate) type Map = serde_json::Map<String, serde_json::Value>;

/// Creates the generator for a schema that is generated at run time. The event lets a test detect such schemas.
pub(crate) fn generator(settings: schemars::generate::SchemaSettings) -> schemars::SchemaGenerator {
    tracing::trace!(target: "mcp_runtime::schema", "a schema is made at run time");
    settings.into_generator()
}
