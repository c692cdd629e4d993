use mcp_runtime::prelude::*;

/// Moves.
#[tool]
fn go((x, y): (f64, f64)) -> f64 {
    x + y
}

fn main() {}
