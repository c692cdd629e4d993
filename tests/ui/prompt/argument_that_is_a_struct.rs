use mcp_runtime::prelude::*;

#[data]
struct Trip {
    /// Where it begins
    from: String,
}

/// Plans a trip.
#[prompt]
fn plan(trip: Trip) -> String {
    format!("Plan a trip from {}", trip.from)
}

fn main() {}
