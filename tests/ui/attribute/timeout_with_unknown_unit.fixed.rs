use mcp_runtime::prelude::*;

/// Reads a file.
#[tool(timeout = "30s")]
async fn read(path: &str) -> String {
    path.to_owned()
}

fn main() {}
