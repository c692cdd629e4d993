use mcp_runtime::prelude::*;
use std::sync::Mutex;

async fn pause() {}

/// Counts.
#[tool]
async fn count(counter: &Mutex<u32>) -> u32 {
    let mut guard = counter.lock().unwrap();
    pause().await;
    *guard += 1;
    *guard
}

fn main() {}
