use mcp_runtime::prelude::*;

/// Repeats a text.
#[tool]
fn repeat(#[arg(range(1..=9))] text: &str) -> String {
    text.repeat(2)
}

fn main() {}
