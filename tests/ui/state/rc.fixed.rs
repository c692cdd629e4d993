use mcp_runtime::prelude::*;
use std::sync::Arc;

/// Counts.
#[tool]
fn count(log: State<Arc<Vec<String>>>) -> usize {
    log.len()
}

fn main() {}
