use mcp_runtime::prelude::*;

/// Prints.
#[tool]
fn print(n: usize) -> usize {
    n
}

fn main() {}
