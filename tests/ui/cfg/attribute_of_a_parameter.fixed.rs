use mcp_runtime::prelude::*;

/// Counts.
#[tool]
fn count(to: u32) -> u32 {
    to
}

fn main() {}
