use mcp_runtime::prelude::*;

/// A point.
#[tool]
struct Point;

fn main() {}
