use mcp_runtime::prelude::*;

/// Counts.
#[tool(annotations(read_only_hint = true))]
fn count() -> u32 {
    0
}

fn main() {}
