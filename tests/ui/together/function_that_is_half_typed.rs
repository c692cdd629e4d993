use mcp_runtime::Items;
use mcp_runtime::prelude::*;

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    let sum = a + b;
    summ // mistake
}

fn main() {
    assert_eq!(add(1, 2), 3);
    let _: Items = items![add];
}
