use mcp_runtime::prelude::*;

/// Pays.
#[tool(single_use)]
async fn pay(amount: u32) -> bool {
    amount > 0
}

fn main() {}
