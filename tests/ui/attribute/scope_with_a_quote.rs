use mcp_runtime::prelude::*;

/// Forgets all.
#[tool(scopes("notes:\"all\""))]
fn clear() {}

fn main() {}
