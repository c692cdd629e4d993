use mcp_runtime::prelude::*;

/// Writes.
#[prompt]
fn write() -> Option<String> {
    Some(String::new())
}

fn main() {}
