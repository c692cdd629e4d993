use mcp_runtime::prelude::*;

/// Greets.
#[tool]
fn greet(#[serde(rename = "userName")] name: Option<&str>) -> String {
    name.unwrap_or("you").to_owned()
}

fn main() {}
