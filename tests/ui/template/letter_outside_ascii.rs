use mcp_runtime::prelude::*;

/// A file.
#[resource("files://größe")]
fn file() -> String {
    String::new()
}

fn main() {}
