use mcp_runtime::prelude::*;

#[data]
struct Point {
    #[schema(title = "East")]
    x: f64,
}

fn main() {}
