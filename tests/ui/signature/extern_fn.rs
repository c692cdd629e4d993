use mcp_runtime::prelude::*;

/// Answers.
#[tool]
extern "C" fn answer() -> u8 {
    42
}

fn main() {}
