use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet() -> String {
    "hello"
}

fn main() {}
