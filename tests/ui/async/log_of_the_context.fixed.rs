use mcp_runtime::prelude::*;

/// Works.
#[tool]
async fn work(ctx: &Context) -> u8 {
    tracing::info!("working"); // mistake
    tracing::info!("done"); // mistake
    let _ = ctx;
    1
}

fn main() {}
