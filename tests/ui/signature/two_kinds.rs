use mcp_runtime::prelude::*;

/// Greets.
#[tool]
#[prompt]
fn greet() -> String {
    String::new()
}

fn main() {}
