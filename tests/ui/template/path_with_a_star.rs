use mcp_runtime::prelude::*;

/// A file.
#[resource("files://{*path}")]
fn file(path: &str) -> String {
    path.to_owned()
}

fn main() {}
