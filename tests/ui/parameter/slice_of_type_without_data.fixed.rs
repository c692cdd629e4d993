use mcp_runtime::prelude::*;

#[data]
struct Point;

/// Moves.
#[tool]
fn go(path: &[Point]) -> usize {
    path.len()
}

fn main() {}
