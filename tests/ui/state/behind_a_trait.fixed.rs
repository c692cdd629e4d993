use mcp_runtime::prelude::*;

trait Store {}

/// Counts.
#[tool]
fn count(store: &std::sync::Arc<dyn Store + Send + Sync>) -> u32 {
    let _ = store;
    0
}

fn main() {}
