use mcp_runtime::prelude::*;

/// Answers.
#[tool]
unsafe fn answer() -> u8 {
    42
}

fn main() {}
