use mcp_runtime::prelude::*;
use std::cell::Cell;

struct Counter(Cell<u32>);

/// Counts.
#[tool]
fn count(counter: &Counter) -> u32 {
    counter.0.get()
}

fn main() {}
