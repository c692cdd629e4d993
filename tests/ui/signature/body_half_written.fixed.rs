use mcp_runtime::prelude::*;

/// Adds two numbers.
#[tool]
fn add(#[arg(range(0..))] a: i64, b: i64) -> i64 {
    let sum = a + b;
    sum
}

fn main() {
    assert_eq!(add(1, 2), 3);
}
