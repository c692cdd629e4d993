use mcp_runtime::prelude::*;

/// Waits.
#[tool]
fn wait(seconds: u32) -> u32 {
    seconds
}

fn main() {}
