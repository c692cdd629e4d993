use mcp_runtime::prelude::*;

/// Counts.
#[tool(title = "Counter")]
fn count() -> u32 {
    0
}

fn main() {}
