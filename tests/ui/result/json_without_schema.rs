use mcp_runtime::prelude::*;

mod serde {
    pub use mcp_runtime::__private::serde::*;
}

#[derive(Serialize)]
#[serde(crate = "crate::serde")]
struct Sum {
    sum: i64,
}

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> Json<Sum> {
    Json(Sum { sum: a + b })
}

fn main() {}
