use mcp_runtime::prelude::*;

/// Paints.
#[prompt]
fn paint(#[complete("one", "two")] color: &str) -> String {
    color.to_owned()
}

fn main() {}
