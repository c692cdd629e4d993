use mcp_runtime::prelude::*;
use std::cell::Cell;

struct Counter(Cell<u32>);

/// Counts.
#[tool]
fn count(counter: &Counter) -> String {
    format!("{:?}", counter.0)
}

fn main() {}
