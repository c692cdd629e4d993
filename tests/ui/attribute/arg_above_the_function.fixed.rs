use mcp_runtime::prelude::*;

/// Counts.
#[tool]
fn count(#[arg(range(1..))] to: u32) -> u32 {
    to
}

fn main() {}
