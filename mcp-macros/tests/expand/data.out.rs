#[derive(
    ::mcp_runtime::__private::serde::Serialize,
    ::mcp_runtime::__private::serde::Deserialize,
    ::mcp_runtime::__private::schemars::JsonSchema,
    ::mcp_runtime::__private::Schema
)]
#[serde(crate = "::mcp_runtime::__private::serde")]
#[schemars(crate = "::mcp_runtime::__private::schemars")]
#[mcp(crate = "::mcp_runtime")]
#[derive(Debug)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    items: Vec<T>,
}
