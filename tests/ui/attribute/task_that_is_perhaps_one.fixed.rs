use mcp_runtime::prelude::*;

/// Waits.
#[tool(task = "optional")]
async fn wait() {}

fn main() {}
