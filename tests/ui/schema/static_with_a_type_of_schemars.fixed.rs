use mcp_runtime::prelude::*;

#[data]
struct Place {
    /// Its name
    name: String,
}

/// Goes there.
#[tool(schema = "static")]
fn go(place: Place) -> String {
    place.name
}

fn main() {}
