use mcp_runtime::prelude::*;

/// A file.
#[resource("files://notes (old)")]
fn file() -> String {
    String::new()
}

fn main() {}
