use mcp_runtime::prelude::*;

/// Counts regions.
#[tool]
fn count(regions: Vec<String>) -> usize {
    regions.len()
}

fn main() {}
