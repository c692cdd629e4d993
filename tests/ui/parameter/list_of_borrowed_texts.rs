use mcp_runtime::prelude::*;

/// Joins.
#[tool]
fn join(parts: &[&str]) -> String {
    parts.join(" ")
}

fn main() {}
