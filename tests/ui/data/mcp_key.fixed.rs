use mcp_runtime::prelude::*;

#[data]
struct Point {
    x: f64,
}

fn main() {}
