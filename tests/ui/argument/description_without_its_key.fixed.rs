use mcp_runtime::prelude::*;

/// Works.
#[tool]
fn work(#[arg(description = "How many")] value: u8) {
    let _ = value;
}

fn main() {}
