use mcp_runtime::prelude::*;

#[data] // mistake
#[serde(rename_all = "camelCase")]
struct Order {
    name: String,
}

/// Orders.
#[tool]
fn order(order: Order) -> Json<Order> {
    Json(order)
}

fn main() {}
