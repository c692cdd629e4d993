use mcp_runtime::prelude::*;

/// Greets.
#[cfg(unix)]
#[tool]
fn greet(name: String) -> String {
    name.to_string()
}

/// Greets.
#[cfg(not(unix))]
#[tool]
fn greet(name: &str) -> String {
    name.to_string()
}

fn main() {}
