use mcp_runtime::prelude::*;

#[tool]
fn point() -> f64 {
    1.0
}

fn main() {}
