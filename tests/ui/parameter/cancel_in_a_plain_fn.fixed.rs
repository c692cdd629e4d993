use mcp_runtime::prelude::*;

/// Works.
#[tool]
async fn work(cancel: Cancel) -> u32 {
    let _ = cancel;
    1
}

fn main() {}
