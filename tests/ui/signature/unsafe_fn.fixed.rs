use mcp_runtime::prelude::*;

/// Answers.
#[tool]
fn answer() -> u8 {
    42
}

fn main() {}
