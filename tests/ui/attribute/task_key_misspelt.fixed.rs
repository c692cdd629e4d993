use mcp_runtime::prelude::*;

/// Waits.
#[tool(task(required, ttl = "1h"))]
async fn wait() {}

fn main() {}
