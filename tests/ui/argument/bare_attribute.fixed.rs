use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet(#[arg(default = "name")] name: &str) -> String {
    name.to_owned()
}

fn main() {}
