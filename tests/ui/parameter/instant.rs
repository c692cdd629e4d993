use mcp_runtime::prelude::*;

/// Waits.
#[tool]
fn wait(until: std::time::Instant) -> bool {
    until > std::time::Instant::now()
}

fn main() {}
