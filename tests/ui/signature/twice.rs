use mcp_runtime::prelude::*;

/// Greets.
#[tool]
#[tool]
fn greet() -> String {
    String::new()
}

fn main() {}
