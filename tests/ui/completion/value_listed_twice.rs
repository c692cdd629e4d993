use mcp_runtime::prelude::*;

/// Paints.
#[prompt]
fn paint(#[complete("red", "red")] color: &str) -> String {
    color.to_owned()
}

fn main() {}
