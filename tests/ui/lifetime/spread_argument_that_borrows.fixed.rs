use mcp_runtime::prelude::*;

#[data]
struct Place {
    name: String,
}

/// Goes there.
#[tool]
fn go(place: Args<Place>) -> String {
    format!("{}", place.name)
}

fn main() {}
