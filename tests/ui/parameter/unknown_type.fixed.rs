use mcp_runtime::prelude::*;

#[data]
struct Point {
    x: f64,
}

/// Moves.
#[tool]
fn go(to: Point) -> bool {
    let _ = to;
    true
}

fn main() {}
