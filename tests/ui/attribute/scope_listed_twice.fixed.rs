use mcp_runtime::prelude::*;

/// Forgets all.
#[tool(scopes("notes:write", "notes:read"))]
fn clear() {}

fn main() {}
