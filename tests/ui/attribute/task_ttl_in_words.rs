use mcp_runtime::prelude::*;

/// Waits.
#[tool(task(ttl = "1 hour"))]
async fn wait() {}

fn main() {}
