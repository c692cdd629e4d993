use mcp_runtime::prelude::*;

/// A file.
#[resource("files://{name}")]
fn file(name: &str) -> String {
    name.to_owned()
}

fn main() {}
