use mcp_runtime::prelude::*;

/// Works.
#[tool]
async fn work(ctx: &Context) -> u8 {
    ctx.report_progress(1, 10).await;
    1
}

fn main() {}
