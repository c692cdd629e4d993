use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet(make: String) -> String {
    make
}

fn main() {}
