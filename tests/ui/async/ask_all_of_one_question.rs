use mcp_runtime::prelude::*;

/// Where the user works.
#[tool(asks(roots))]
async fn places(ctx: &Context) -> Result<usize> {
    Ok(ctx.ask_all(ctx.roots()).await?.len())
}

fn main() {}
