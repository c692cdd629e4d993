use mcp_runtime::prelude::*;

/// Moves.
#[tool]
fn go() -> bool {
    true
}

fn main() {}
