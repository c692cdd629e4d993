use mcp_runtime::prelude::*;

#[data]
struct Point {
    #[schemars(title = "East")]
    x: f64,
}

fn main() {}
