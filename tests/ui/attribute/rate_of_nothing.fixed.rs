use mcp_runtime::prelude::*;

/// Looks for a word.
#[tool(rate = "1/m")]
fn look(word: &str) -> bool {
    word.is_empty()
}

fn main() {}
