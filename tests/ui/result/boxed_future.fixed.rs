use mcp_runtime::prelude::*;

/// Fetches.
#[tool]
async fn get() -> String {
    String::new()
}

fn main() {}
