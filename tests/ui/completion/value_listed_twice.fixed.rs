use mcp_runtime::prelude::*;

/// Paints.
#[prompt]
fn paint(#[complete("red")] color: &str) -> String {
    color.to_owned()
}

fn main() {}
