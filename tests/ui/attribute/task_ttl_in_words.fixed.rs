use mcp_runtime::prelude::*;

/// Waits.
#[tool(task(ttl = "1h"))]
async fn wait() {}

fn main() {}
