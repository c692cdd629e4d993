use mcp_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
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
