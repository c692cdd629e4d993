use mcp_runtime::prelude::*;

/// Forgets all.
#[tool(scopes("files:write"))]
fn clear() {}

fn main() {}
