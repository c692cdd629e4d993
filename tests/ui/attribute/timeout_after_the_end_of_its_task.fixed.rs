use mcp_runtime::prelude::*;

/// Exports everything.
#[tool(task(ttl = "1h"))]
async fn export() -> bool {
    true
}

fn main() {}
