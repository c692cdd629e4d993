use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet(#[cfg(unix)] name: String) -> String {
    name
}

fn main() {}
