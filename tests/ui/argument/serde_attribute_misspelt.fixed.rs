use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet(#[serde(rename = "userName")] name: String) -> String {
    name
}

fn main() {}
