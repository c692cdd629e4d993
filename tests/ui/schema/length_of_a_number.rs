use mcp_runtime::prelude::*;

/// Waits.
#[tool]
fn wait(#[arg(len(..=60))] seconds: u32) -> u32 {
    seconds
}

fn main() {}
