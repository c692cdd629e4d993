use mcp_runtime::prelude::*;

#[data]
struct Trip {
    /// Where it begins
    from: String,
}

/// Plans a trip.
#[prompt]
fn plan(from: &str) -> String {
    format!("Plan a trip from {}", from)
}

fn main() {}
