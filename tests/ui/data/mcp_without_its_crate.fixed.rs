use mcp_runtime::prelude::*;

#[derive(Schema)]
#[mcp(crate = "mcp_runtime")]
struct Point {
    x: f64,
}

fn main() {}
