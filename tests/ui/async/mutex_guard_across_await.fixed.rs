use mcp_runtime::prelude::*;
use std::sync::Mutex;

async fn pause() {}

/// Counts.
#[tool]
async fn count(counter: &Mutex<u32>) -> u32 {
    pause().await;
    let mut guard = counter.lock().unwrap();
    *guard += 1;
    *guard
}

fn main() {}
