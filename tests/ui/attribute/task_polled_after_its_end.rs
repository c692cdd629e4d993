use mcp_runtime::prelude::*;

/// Exports everything.
#[tool(task(ttl = "1m", poll = "5m"))]
async fn export() -> bool {
    true
}

fn main() {}
