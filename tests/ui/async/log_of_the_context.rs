use mcp_runtime::prelude::*;

/// Works.
#[tool]
async fn work(ctx: &Context) -> u8 {
    ctx.info("working").await; // mistake
    ctx.log("info", "done"); // mistake
    let _ = ctx;
    1
}

fn main() {}
