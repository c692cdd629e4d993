use mcp_runtime::prelude::*;

fn colors(typed: &str) -> Vec<String> {
    vec![typed.to_owned()]
}

/// Paints.
#[prompt]
fn paint(#[complete(colors)] color: &str) -> String {
    color.to_owned()
}

fn main() {}
