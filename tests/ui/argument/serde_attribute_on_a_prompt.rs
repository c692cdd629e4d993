use mcp_runtime::prelude::*;

/// Greets.
#[prompt]
fn greet(#[serde(rename = "userName")] name: String) -> String {
    name
}

fn main() {}
