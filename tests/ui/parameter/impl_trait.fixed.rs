use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet(name: String) -> String {
    name
}

fn main() {}
