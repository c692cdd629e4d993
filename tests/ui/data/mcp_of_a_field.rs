use mcp_runtime::prelude::*;

#[data]
struct Point {
    #[mcp(title = "East")]
    x: f64,
}

fn main() {}
