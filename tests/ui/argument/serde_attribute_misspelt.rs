use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet(#[serde(renam = "userName")] name: String) -> String {
    name
}

fn main() {}
