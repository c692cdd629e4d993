use mcp_runtime::prelude::*;

/// A file.
#[resource("files://all{path?}")]
fn file(path: Option<String>) -> String {
    path.unwrap_or_default()
}

fn main() {}
