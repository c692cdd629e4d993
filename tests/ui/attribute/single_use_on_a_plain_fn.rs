use mcp_runtime::prelude::*;

/// Pays.
#[tool(single_use)]
fn pay(amount: u32) -> bool {
    amount > 0
}

fn main() {}
