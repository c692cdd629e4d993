use mcp_runtime::prelude::*;

/// Waits.
#[tool(task = "maybe")]
async fn wait() {}

fn main() {}
