use mcp_runtime::prelude::*;

#[data]
struct Place {
    name: String,
}

/// Goes there.
#[tool]
fn go(place: Place) -> String {
    place.name
}

fn main() {}
