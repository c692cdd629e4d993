use mcp_runtime::prelude::*;

#[data]
struct Order {
    seats: u8,
}

/// Orders.
#[tool]
async fn order(ask: Elicit) -> Result<u8> {
    let Order { seats } = ask.form("seats", "How many?").await?;
    Ok(seats)
}

fn main() {}
