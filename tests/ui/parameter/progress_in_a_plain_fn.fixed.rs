use mcp_runtime::prelude::*;

/// Works.
#[tool(blocking)]
fn work(progress: Progress) -> u32 {
    let _ = progress;
    1
}

fn main() {}
