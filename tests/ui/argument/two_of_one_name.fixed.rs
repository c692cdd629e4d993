use mcp_runtime::prelude::*;

/// Adds.
#[tool]
fn add(a: i64, #[arg(name = "other")] b: i64) -> i64 {
    a + b
}

fn main() {}
