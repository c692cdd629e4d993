use mcp_runtime::prelude::*;

/// Removes a file.
#[tool(destructive)]
fn remove(path: &str) -> String {
    path.to_owned()
}

fn main() {}
