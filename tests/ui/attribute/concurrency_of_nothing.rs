use mcp_runtime::prelude::*;

/// Looks for a word.
#[tool(concurrency = 0)]
fn look(word: &str) -> bool {
    word.is_empty()
}

fn main() {}
