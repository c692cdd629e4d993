use mcp_runtime::prelude::*;

/// Counts.
#[tool]
fn count(names: Vec<&str>) -> usize {
    names.len()
}

fn main() {}
