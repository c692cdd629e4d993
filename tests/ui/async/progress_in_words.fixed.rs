use mcp_runtime::prelude::*;

/// Works.
#[tool]
async fn work(progress: Progress) -> bool {
    progress.report(3);
    true
}

fn main() {}
