use mcp_runtime::prelude::*;

/// Counts.
#[tool(title = "other")]
fn count() -> u8 {
    5
}

fn main() {}
