use mcp_runtime::prelude::*;

#[form]
struct Booking {
    #[arg(range(1..=12))]
    guests: u8,
}

/// Books a table.
#[tool]
fn book(#[arg(range(1..=12))] guests: u8) -> u8 {
    guests
}

fn main() {}
