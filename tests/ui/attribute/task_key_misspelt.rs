use mcp_runtime::prelude::*;

/// Waits.
#[tool(task(require, ttl = "1h"))]
async fn wait() {}

fn main() {}
