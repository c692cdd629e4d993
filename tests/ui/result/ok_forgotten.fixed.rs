use mcp_runtime::prelude::*;

/// Counts.
#[tool]
fn count() -> Result<u32> {
    Ok(1)
}

fn main() {}
