use mcp_runtime::prelude::*;

/// Waits.
#[tool]
fn wait(until: std::time::Instant) -> bool {
    let _ = until;
    true
}

fn main() {}
