use mcp_runtime::prelude::*;

struct Failure;

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Failure")
    }
}

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> Result<i64, Failure> {
    a.checked_add(b).ok_or(Failure)
}

fn main() {}
