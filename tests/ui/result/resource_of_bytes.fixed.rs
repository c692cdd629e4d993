use mcp_runtime::prelude::*;

/// A picture.
#[resource("pictures://me")]
fn picture() -> Blob {
    Blob::new(vec![1, 2, 3])
}

fn main() {}
