use mcp_runtime::prelude::*;

/// Works.
#[tool(group = "admin")]
fn work() {}

fn main() {}
