use mcp_runtime::prelude::*;

/// Thinks.
#[prompt]
async fn think() -> &'static str {
    "Think."
}

fn main() {}
