use mcp_runtime::prelude::*;

/// A file.
#[resource("files://a{part}")]
fn file(part: &str) -> String {
    part.to_owned()
}

fn main() {}
