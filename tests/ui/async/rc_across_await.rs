use mcp_runtime::prelude::*;
use std::rc::Rc;

async fn pause() {}

/// Counts.
#[tool]
async fn count() -> usize {
    let shared = Rc::new(1);
    pause().await;
    *shared
}

fn main() {}
