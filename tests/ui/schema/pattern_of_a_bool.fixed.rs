use mcp_runtime::prelude::*;

/// Decides.
#[tool]
fn decide(sure: bool) -> bool {
    sure
}

fn main() {}
