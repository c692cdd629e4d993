use mcp_runtime::prelude::*;

struct Point;

/// Moves.
#[tool]
fn go(path: &[Point]) -> usize {
    path.len()
}

fn main() {}
