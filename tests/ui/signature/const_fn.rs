use mcp_runtime::prelude::*;

/// Answers.
#[tool]
const fn answer() -> u8 {
    42
}

fn main() {}
