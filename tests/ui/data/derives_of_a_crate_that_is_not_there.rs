use mcp_runtime::prelude::*;

#[data]
#[derive(serde_derive::Serialize, serde_derive::Deserialize, Debug)]
struct Point {
    x: f64,
}

fn main() {}
