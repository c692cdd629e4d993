use mcp_runtime::prelude::*;

#[data]
struct Place<'a> {
    name: &'a str,
}

/// Goes there.
#[tool]
fn go(place: Place<'_>) -> String {
    place.name.to_owned()
}

fn main() {}
