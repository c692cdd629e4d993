use mcp_runtime::prelude::*;

/// Counts.
#[prompt]
fn count() -> u32 {
    1
}

fn main() {}
