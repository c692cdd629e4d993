use mcp_runtime::prelude::*;

/// Joins.
#[tool]
fn join(parts: &[String]) -> String {
    parts.join(" ")
}

fn main() {}
