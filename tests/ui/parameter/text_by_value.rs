use mcp_runtime::prelude::*;

/// Counts.
#[tool]
fn count(name: str) -> usize {
    name.len()
}

fn main() {}
