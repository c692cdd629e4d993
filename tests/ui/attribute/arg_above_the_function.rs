use mcp_runtime::prelude::*;

/// Counts.
#[tool]
#[arg(range(1..))]
fn count(to: u32) -> u32 {
    to
}

fn main() {}
