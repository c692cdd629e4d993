use mcp_runtime::prelude::*;

#[data]
struct Order {
    #[arg(range(1..=9))]
    cups: u8,
}

/// Takes an order.
#[tool]
fn order(order: Order) -> u8 {
    order.cups
}

fn main() {}
