use mcp_runtime::prelude::*;

/// Counts.
#[resource("app://count")]
fn count() {
    let _count = 1;
}

fn main() {}
