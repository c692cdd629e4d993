use mcp_runtime::prelude::*;

/// Forgets all.
#[tool(scopes("notes:write", "offline_access"))]
fn clear() {}

fn main() {}
