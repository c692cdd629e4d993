use mcp_runtime::prelude::*;

#[data]
#[derive(Serialize)]
struct Point {
    x: f64,
}

fn main() {}
