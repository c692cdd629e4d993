use mcp_runtime::prelude::*;

/// Reads a file.
#[tool(blocking, timeout = "30s")]
fn read(path: &str) -> String {
    path.to_owned()
}

fn main() {}
