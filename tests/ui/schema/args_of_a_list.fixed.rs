use mcp_runtime::prelude::*;

/// Adds numbers.
#[tool]
fn sum(numbers: Vec<i64>) -> i64 {
    numbers.iter().sum()
}

fn main() {}
