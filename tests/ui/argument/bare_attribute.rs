use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet(#[arg] name: &str) -> String {
    name.to_owned()
}

fn main() {}
