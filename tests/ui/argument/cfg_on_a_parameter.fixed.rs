use mcp_runtime::prelude::*;

/// Greets.
#[cfg(unix)]
#[tool]
fn greet(name: String) -> String {
    name
}

/// Greets.
#[cfg(not(unix))]
#[tool]
fn greet() {}

fn main() {}
