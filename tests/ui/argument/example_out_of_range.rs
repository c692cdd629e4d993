use mcp_runtime::prelude::*;

/// Dims the light.
#[tool]
fn dim(#[arg(range(0.0..=1.0), example = 50)] level: f64) -> bool {
    level > 0.0
}

fn main() {}
