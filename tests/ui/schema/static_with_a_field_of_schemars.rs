use mcp_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Spot {
    x: f64,
}

#[data]
struct Place {
    /// Its name
    name: String,
    /// Where it is
    spots: Vec<Spot>,
}

/// Goes there.
#[tool(schema = "static")]
fn go(place: Place) -> f64 {
    place.spots[0].x
}

fn main() {}
