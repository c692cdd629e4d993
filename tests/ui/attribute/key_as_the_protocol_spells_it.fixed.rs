use mcp_runtime::prelude::*;

/// Counts.
#[tool(read_only = true)]
fn count() -> u32 {
    0
}

fn main() {}
