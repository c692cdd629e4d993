use mcp_runtime::prelude::*;

/// Waits.
#[tool]
fn wait(until: String) -> bool {
    let _ = until;
    true
}

fn main() {}
