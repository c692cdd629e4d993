use mcp_runtime::prelude::*;

/// Answers.
#[tool]
fn answer() -> String {
    String::from("42")
}

fn main() {}
