use mcp_runtime::prelude::*;

/// Forgets all.
#[tool(scopes())]
fn clear() {}

fn main() {}
