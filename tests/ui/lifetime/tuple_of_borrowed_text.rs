use mcp_runtime::prelude::*;

/// Repeats a text.
#[tool]
fn repeat(word: (&str, usize)) -> String {
    word.0.repeat(word.1)
}

fn main() {}
