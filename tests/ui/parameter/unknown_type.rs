use mcp_runtime::prelude::*;

/// Moves.
#[tool]
fn go(to: Piont) -> bool {
    let _ = to;
    true
}

fn main() {}
