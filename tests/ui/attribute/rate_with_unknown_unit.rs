use mcp_runtime::prelude::*;

/// Looks for a word.
#[tool(rate = "10/sec")]
fn look(word: &str) -> bool {
    word.is_empty()
}

fn main() {}
