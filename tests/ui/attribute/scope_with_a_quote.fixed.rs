use mcp_runtime::prelude::*;

/// Forgets all.
#[tool(scopes("other"))]
fn clear() {}

fn main() {}
