use mcp_runtime::prelude::*;

/// Repeats a text.
#[tool]
fn repeat(text: &str) -> String {
    text.repeat(2)
}

fn main() {}
