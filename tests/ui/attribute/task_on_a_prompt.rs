use mcp_runtime::prelude::*;

/// Thinks.
#[prompt(task)]
async fn think() -> &'static str {
    "Think."
}

fn main() {}
