use mcp_runtime::prelude::*;

/// Counts.
#[resource("app://count")]
fn count() -> u32 {
    1
}

fn main() {}
