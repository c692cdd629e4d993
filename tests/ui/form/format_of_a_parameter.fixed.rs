use mcp_runtime::prelude::*;

/// Sends a letter.
#[tool]
fn send(#[arg(description = "email")] to: &str) -> usize {
    to.len()
}

fn main() {}
