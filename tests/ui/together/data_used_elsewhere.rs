use mcp_runtime::prelude::*;

#[data(rename_all = "camelCase")] // mistake
struct Order {
    name: String,
}

/// Orders.
#[tool]
fn order(order: Order) -> Json<Order> {
    Json(order)
}

fn main() {}
