use mcp_runtime::prelude::*;

#[data]
#[derive(Debug)]
struct Point {
    x: f64,
}

fn main() {}
