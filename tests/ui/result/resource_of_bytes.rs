use mcp_runtime::prelude::*;

/// A picture.
#[resource("pictures://me")]
fn picture() -> Vec<u8> {
    vec![1, 2, 3]
}

fn main() {}
