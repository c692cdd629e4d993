use mcp_runtime::prelude::*;

/// Counts.
#[tool(read_only)]
fn count() -> u32 {
    0
}

fn main() {}
