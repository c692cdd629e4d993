use mcp_runtime::prelude::*;

/// Adds numbers.
#[tool]
fn sum(numbers: Args<Vec<i64>>) -> i64 {
    numbers.iter().sum()
}

fn main() {}
