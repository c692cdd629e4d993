use mcp_runtime::prelude::*;

trait Store {}

/// Counts.
#[tool]
fn count(store: &dyn Store) -> u32 {
    let _ = store;
    0
}

fn main() {}
