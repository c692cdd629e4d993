use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet() -> String {
    String::new();
}

fn main() {}
