use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet<'a>(name: &'a str) -> String {
    name.to_owned()
}

fn main() {}
