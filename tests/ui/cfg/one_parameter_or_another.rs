use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet(#[cfg(unix)] name: String, #[cfg(not(unix))] name: &str) -> String {
    name.to_string()
}

fn main() {}
