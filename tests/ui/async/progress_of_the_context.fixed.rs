use mcp_runtime::prelude::*;

/// Works.
#[tool]
async fn work(ctx: &Context) -> u8 {
    ctx.progress().total(10).report(1);
    1
}

fn main() {}
