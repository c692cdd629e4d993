use mcp_runtime::prelude::*;

/// Writes.
#[prompt]
fn write() -> Vec<String> {
    vec![String::new()]
}

fn main() {}
