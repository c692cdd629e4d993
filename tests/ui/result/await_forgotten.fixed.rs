use mcp_runtime::prelude::*;

async fn fetch() -> String {
    String::new()
}

/// Fetches.
#[tool]
async fn get() -> String {
    fetch().await
}

fn main() {}
