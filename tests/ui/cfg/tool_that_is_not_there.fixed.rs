use mcp_runtime::prelude::*;

/// Counts.
#[tool]
fn count() {}

fn main() {
    let _ = items![count];
}
