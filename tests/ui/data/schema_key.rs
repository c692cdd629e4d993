use mcp_runtime::prelude::*;

#[data]
#[schema(lazy)]
struct Point {
    x: f64,
}

fn main() {}
