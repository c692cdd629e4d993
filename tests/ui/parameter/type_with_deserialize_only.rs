use mcp_runtime::prelude::*;
use mcp_runtime::prelude::Deserialize;

mod serde {
    pub use mcp_runtime::__private::serde::*;
}

#[derive(Deserialize)]
#[serde(crate = "crate::serde")]
struct Point {
    x: f64,
}

/// Moves.
#[tool]
fn go(to: Point) -> f64 {
    to.x
}

fn main() {}
