use mcp_runtime::prelude::*;

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {
    let _ = mcp_runtime::server!().items(items![add]);
}
