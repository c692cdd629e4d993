use mcp_runtime::prelude::*;

/// Rents a bike.
#[tool]
fn rent(days: Option<u32>) -> String {
    format!("{days:?}")
}

fn main() {}
