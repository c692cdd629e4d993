use mcp_runtime::Items;
use mcp_runtime::prelude::*;

/// Adds.
#[tool(titel = "Sum")] // mistake
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {
    assert_eq!(add(1, 2), 3);
    let _: Items = items![add];
    let _ = mcp_runtime::server!().build();
}
