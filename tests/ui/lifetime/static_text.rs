use mcp_runtime::prelude::*;

/// Counts.
#[tool]
fn count(name: &'static str) -> usize {
    name.len()
}

fn main() {}
