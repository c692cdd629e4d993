use mcp_runtime::prelude::*;

/// Counts.
#[tool]
async fn count(ctx: &mut Context) -> u32 {
    let _ = ctx;
    0
}

fn main() {}
