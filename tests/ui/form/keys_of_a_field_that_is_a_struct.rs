use mcp_runtime::prelude::*;

#[data]
struct Seats {
    count: u8,
}

#[form]
struct Order {
    #[arg(title = "Seats", default = 2, range(1..=8))]
    seats: Seats, // mistake
}

fn main() {}
