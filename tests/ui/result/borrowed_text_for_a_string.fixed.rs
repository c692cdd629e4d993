use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet() -> String {
    "hello".to_string()
}

fn main() {}
