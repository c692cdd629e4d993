use mcp_runtime::prelude::*;

/// Exports everything.
#[tool(timeout = "2h", task(ttl = "1h"))]
async fn export() -> bool {
    true
}

fn main() {}
