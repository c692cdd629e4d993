use mcp_runtime::prelude::*;

const MOST: usize = 10;

/// Repeats.
#[tool]
fn repeat(text: &str, #[arg(range(1..=10))] times: usize) -> String {
    text.repeat(times.min(MOST))
}

fn main() {}
