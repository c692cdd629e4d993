use mcp_runtime::prelude::*;

/// Answers.
#[tool]
fn answer() -> impl std::fmt::Display {
    String::from("42")
}

fn main() {}
