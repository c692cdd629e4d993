use mcp_runtime::prelude::*;

/// Counts regions.
#[tool]
fn count(#[arg(header = "Region")] regions: Vec<String>) -> usize {
    regions.len()
}

fn main() {}
