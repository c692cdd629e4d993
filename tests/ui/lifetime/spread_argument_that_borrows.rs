use mcp_runtime::prelude::*;

#[data]
struct Place<'a> {
    name: &'a str,
}

/// Goes there.
#[tool]
fn go(place: Args<Place<'_>>) -> String {
    format!("{}", place.name)
}

fn main() {}
