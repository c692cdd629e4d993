use mcp_runtime::prelude::*;

/// Looks for a word.
#[tool(rate = "10/s")]
fn look(word: &str) -> bool {
    word.is_empty()
}

fn main() {}
