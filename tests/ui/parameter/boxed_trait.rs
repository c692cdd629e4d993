use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet(name: Box<dyn Fn() -> String>) -> String {
    name()
}

fn main() {}
