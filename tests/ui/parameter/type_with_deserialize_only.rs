use mcp_runtime::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Point {
    x: f64,
}

/// Moves.
#[tool]
fn go(to: Point) -> f64 {
    to.x
}

fn main() {}
