use mcp_runtime::prelude::*;

struct Point;

/// Moves.
#[tool]
fn go(path: Vec<Point>) -> usize {
    path.len()
}

fn main() {}
