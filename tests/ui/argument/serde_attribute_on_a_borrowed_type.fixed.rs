use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet(#[serde(rename = "userName")] name: Option<String>) -> String {
    name.unwrap_or("you".to_owned())
}

fn main() {}
