use mcp_runtime::prelude::*;

async fn fetch() -> String {
    String::new()
}

/// Fetches.
#[tool(blocking)]
fn get() -> String {
    fetch().await
}

fn main() {}
