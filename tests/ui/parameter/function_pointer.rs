use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet(make: fn() -> String) -> String {
    make()
}

fn main() {}
