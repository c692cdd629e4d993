use mcp_runtime::prelude::*;

/// Reads a file.
#[tool(blocking)]
async fn read(path: &str) -> String {
    path.to_owned()
}

fn main() {}
