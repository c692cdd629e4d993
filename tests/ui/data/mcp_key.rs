use mcp_runtime::prelude::*;

#[data]
#[mcp(lazy)]
struct Point {
    x: f64,
}

fn main() {}
