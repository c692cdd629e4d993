use mcp_runtime::prelude::*;

/// Reads a file.
#[tool]
async fn read(path: &str) -> String {
    path.to_owned()
}

fn main() {}
