use mcp_runtime::prelude::*;

/// Counts bytes.
#[tool]
fn count(name: String) -> usize {
    name.len()
}

fn main() {}
