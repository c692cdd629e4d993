use mcp_runtime::prelude::*;

/// Moves.
#[tool]
fn go(_: f64) -> bool {
    true
}

fn main() {}
