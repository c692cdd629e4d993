use mcp_runtime::prelude::*;

/// Counts.
#[tool(readOnlyHint = true)]
fn count() -> u32 {
    0
}

fn main() {}
