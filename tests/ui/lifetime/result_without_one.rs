use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet() -> &str {
    "hello"
}

fn main() {}
