use mcp_runtime::prelude::*;

/// Counts.
#[cfg(test)]
#[tool]
fn count() {}

fn main() {
    let _ = items![count];
}
