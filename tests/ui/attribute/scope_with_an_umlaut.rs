use mcp_runtime::prelude::*;

/// Forgets all.
#[tool(scopes("notes:ändern"))]
fn clear() {}

fn main() {}
