use mcp_runtime::prelude::*;

/// Forgets all.
#[tool(scopes("notes:write"))]
fn clear() {}

fn main() {}
