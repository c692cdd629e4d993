use mcp_runtime::prelude::*;

/// Exports everything.
#[tool(task(ttl = "5m", poll = "1m"))]
async fn export() -> bool {
    true
}

fn main() {}
