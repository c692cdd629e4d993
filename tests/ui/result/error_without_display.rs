use mcp_runtime::prelude::*;

struct Failure;

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> Result<i64, Failure> {
    a.checked_add(b).ok_or(Failure)
}

fn main() {}
