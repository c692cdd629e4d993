use mcp_runtime::prelude::*;
use std::rc::Rc;

async fn pause() {}

/// Counts.
#[tool]
async fn count() -> usize {
    pause().await;
    let shared = Rc::new(1);
    *shared
}

fn main() {}
