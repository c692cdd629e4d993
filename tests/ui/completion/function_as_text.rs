use mcp_runtime::prelude::*;

/// Paints.
#[prompt]
fn paint(#[complete = "colors"] color: &str) -> String {
    color.to_owned()
}

fn main() {}
