use mcp_runtime::prelude::*;

/// A file.
#[resource("files://notes%20(old)")]
fn file() -> String {
    String::new()
}

fn main() {}
