use mcp_runtime::prelude::*;
use std::sync::RwLock;

struct Counter(RwLock<u32>);

/// Counts.
#[tool]
fn count(counter: &Counter) -> String {
    format!("{:?}", counter.0)
}

fn main() {}
