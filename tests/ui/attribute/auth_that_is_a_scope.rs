use mcp_runtime::prelude::*;

/// Forgets all.
#[tool(auth("notes:write"))]
fn clear() {}

fn main() {}
