use mcp_runtime::prelude::*;

#[data]
struct Place {
    name: std::borrow::Cow<'static, str>,
}

/// Goes there.
#[tool]
fn go(place: Args<Place>) -> String {
    place.name.to_string()
}

fn main() {}
