use mcp_runtime::prelude::*;

/// Writes.
#[prompt]
fn write() -> &'static str {
    "Write."
}

fn main() {}
