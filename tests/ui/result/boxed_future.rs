use mcp_runtime::prelude::*;
use std::pin::Pin;

/// Fetches.
#[tool]
fn get() -> Pin<Box<dyn Future<Output = String> + Send>> {
    Box::pin(async { String::new() })
}

fn main() {}
