use mcp_runtime::prelude::*;

/// Repeats a text.
#[tool]
fn repeat(word: (String, usize)) -> String {
    word.0.repeat(word.1)
}

fn main() {}
