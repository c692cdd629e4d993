use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet() -> &'static str {
    "hello"
}

fn main() {}
