use mcp_runtime::prelude::*;

/// Greets.
#[prompt]
fn greet(#[arg(name = "userName")] name: String) -> String {
    name
}

fn main() {}
