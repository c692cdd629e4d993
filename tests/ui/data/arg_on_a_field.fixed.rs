use mcp_runtime::prelude::*;

#[data]
struct Order {
    cups: u8,
}

/// Takes an order.
#[tool]
fn order(order: Order) -> u8 {
    order.cups
}

fn main() {}
