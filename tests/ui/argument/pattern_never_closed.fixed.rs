use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet(#[arg(pattern = "^[a-z]+$")] name: &str) -> String {
    name.to_owned()
}

fn main() {}
