use mcp_runtime::prelude::*;

/// A file.
#[resource("files://my file")]
fn file() -> String {
    String::new()
}

fn main() {}
