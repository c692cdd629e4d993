use mcp_runtime::prelude::*;

/// Works.
#[tool]
async fn work(progress: Progress) -> bool {
    progress.report("three");
    true
}

fn main() {}
