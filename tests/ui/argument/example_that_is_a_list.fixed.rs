use mcp_runtime::prelude::*;

/// Adds up.
#[tool]
fn sum(#[arg(description = "such as [1, 2]")] numbers: &[i64]) -> i64 {
    numbers.iter().sum()
}

fn main() {}
