use mcp_runtime::prelude::*;

/// Decides.
#[tool]
fn decide(#[arg(pattern = "^yes$")] sure: bool) -> bool {
    sure
}

fn main() {}
