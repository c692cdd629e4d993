use mcp_runtime::prelude::*;

#[form]
struct Booking {
    #[arg(range(1..=12))]
    guests: u8,
}

/// Books a table.
#[tool]
fn book(booking: Args<Booking>) -> u8 {
    booking.guests
}

fn main() {}
