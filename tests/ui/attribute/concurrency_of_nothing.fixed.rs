use mcp_runtime::prelude::*;

/// Looks for a word.
#[tool]
fn look(word: &str) -> bool {
    word.is_empty()
}

fn main() {}
