use mcp_runtime::prelude::*;

/// Rents a bike.
#[tool]
fn rent(#[arg(optional)] days: u32) -> String {
    format!("{days:?}")
}

fn main() {}
