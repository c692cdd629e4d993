use mcp_runtime::prelude::*;

/// Adds.
#[tool(task, blocking)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
