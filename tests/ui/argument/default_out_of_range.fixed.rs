use mcp_runtime::prelude::*;

/// Repeats.
#[tool]
fn repeat(text: &str, #[arg(default = 10, range(1..=10))] times: usize) -> String {
    text.repeat(times)
}

fn main() {}
