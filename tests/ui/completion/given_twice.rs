use mcp_runtime::prelude::*;

/// Paints.
#[prompt]
fn paint(#[complete("red")] #[complete("green")] color: &str) -> String {
    color.to_owned()
}

fn main() {}
