use mcp_runtime::prelude::*;

/// Sends a letter.
#[tool]
fn send(#[arg(format = "email")] to: &str) -> usize {
    to.len()
}

fn main() {}
