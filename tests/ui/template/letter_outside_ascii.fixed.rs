use mcp_runtime::prelude::*;

/// A file.
#[resource("files://gr%C3%B6%C3%9Fe")]
fn file() -> String {
    String::new()
}

fn main() {}
