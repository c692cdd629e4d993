use mcp_runtime::prelude::*;

#[data]
#[serde(rename_all = "camelCase")]
struct Point {
    x: f64,
}

fn main() {}
