use mcp_runtime::prelude::*;

/// Works.
#[tool]
fn work(#[arg("How many")] value: u8) {
    let _ = value;
}

fn main() {}
