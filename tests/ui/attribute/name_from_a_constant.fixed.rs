use mcp_runtime::prelude::*;

const NAME: &str = "counter";

/// Counts.
#[tool(name = "counter")]
fn count() -> u32 {
    0
}

fn main() {}
