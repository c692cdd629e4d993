use mcp_runtime::prelude::*;

/// Counts.
#[tool(blocking)]
fn count(numbers: Vec<u8>) -> usize {
    numbers.len()
}

fn main() {}
