use mcp_runtime::prelude::*;

/// Repeats.
#[tool]
fn repeat(text: &str, #[arg(default = 1)] times: usize) -> String {
    text.repeat(times)
}

fn main() {}
