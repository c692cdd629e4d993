use mcp_runtime::prelude::*;

/// Writes.
#[prompt(read_only)]
fn write() -> &'static str {
    "Write."
}

fn main() {}
