use mcp_runtime::prelude::*;

/// Writes.
#[prompt]
fn write() -> String {
    String::new()
}

fn main() {}
