use mcp_runtime::prelude::*;
use std::cell::RefCell;

async fn pause() {}

/// Counts.
#[tool]
async fn count() -> u32 {
    let cell = RefCell::new(1);
    pause().await;
    let guard = cell.borrow_mut();
    *guard
}

fn main() {}
