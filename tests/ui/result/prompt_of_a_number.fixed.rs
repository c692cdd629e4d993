use mcp_runtime::prelude::*;

/// Counts.
#[prompt]
fn count() -> String {
    format!("{}", 1)
}

fn main() {}
