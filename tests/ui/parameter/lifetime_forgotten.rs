use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet(name: &'a str) -> String {
    name.to_owned()
}

fn main() {}
