use mcp_runtime::prelude::*;

/// Paints.
#[tool]
fn paint(#[complete("red", "green")] color: &str) -> String {
    color.to_owned()
}

fn main() {}
