use mcp_runtime::prelude::*;

#[data]
fn point() -> f64 {
    1.0
}

fn main() {}
