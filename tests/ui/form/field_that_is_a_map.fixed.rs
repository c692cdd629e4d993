use mcp_runtime::prelude::*;

#[form]
struct Order {
    prices: String,
}

fn main() {}
