use mcp_runtime::prelude::*;
use serde::Serialize;

#[derive(Serialize)]
struct Sum {
    sum: i64,
}

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> Json<Sum> {
    Json(Sum { sum: a + b })
}

fn main() {}
