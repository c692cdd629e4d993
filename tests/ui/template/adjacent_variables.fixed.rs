use mcp_runtime::prelude::*;

/// A file.
#[resource("files://{name}/{version}")]
fn file(name: &str, version: u32) -> String {
    format!("{name}{version}")
}

fn main() {}
