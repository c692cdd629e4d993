use mcp_runtime::prelude::*;

/// Answers.
#[tool]
fn answer() -> impl std::fmt::Display {
    42
}

fn main() {}
