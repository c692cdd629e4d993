use mcp_runtime::prelude::*;

/// A point.
#[data]
struct Point;

fn main() {}
