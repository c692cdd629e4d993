use mcp_runtime::prelude::*;

/// Counts.
#[tool]
fn count(names: Vec<String>) -> usize {
    names.len()
}

fn main() {}
