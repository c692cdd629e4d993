#[derive(
    ::facade::__private::serde::Serialize,
    ::facade::__private::serde::Deserialize,
    ::facade::__private::schemars::JsonSchema,
    ::facade::__private::Schema
)]
#[serde(crate = "::facade::__private::serde")]
#[schemars(crate = "::facade::__private::schemars")]
#[mcp(crate = "::facade")]
enum Kind {
    A,
}
