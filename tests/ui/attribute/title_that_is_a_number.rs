use mcp_runtime::prelude::*;

/// Counts.
#[tool(title = 5)]
fn count() -> u8 {
    5
}

fn main() {}
