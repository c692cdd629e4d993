use mcp_runtime::prelude::*;

#[form]
struct Order {
    seats: u8,
}

/// Orders.
#[tool]
async fn order(ask: Elicit) -> Result<u8> {
    let order: Order = ask.form("seats", "How many?")?;
    Ok(order.seats)
}

fn main() {}
