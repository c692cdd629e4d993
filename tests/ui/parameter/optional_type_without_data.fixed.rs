use mcp_runtime::prelude::*;

#[data]
struct Point;

/// Moves.
#[tool]
fn go(to: Option<Point>) -> bool {
    to.is_some()
}

fn main() {}
