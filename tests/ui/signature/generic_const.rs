use mcp_runtime::prelude::*;

/// Prints.
#[tool]
fn print<const N: usize>() -> usize {
    N
}

fn main() {}
