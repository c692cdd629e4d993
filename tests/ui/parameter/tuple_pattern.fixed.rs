use mcp_runtime::prelude::*;

/// Moves.
#[tool]
fn go(name: (f64, f64)) -> f64 {
    let (x, y) = name;
    x + y
}

fn main() {}
