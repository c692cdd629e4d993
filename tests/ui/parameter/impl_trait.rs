use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet(name: impl Into<String>) -> String {
    name.into()
}

fn main() {}
