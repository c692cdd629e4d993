use mcp_runtime::prelude::*;

#[data]
struct Trip {
    from: String,
}

/// Moves.
#[tool]
fn go(trip: Args<Trip>) -> String {
    trip.from.clone()
}

fn main() {}
