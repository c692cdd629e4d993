use mcp_runtime::prelude::*;

#[data]
struct Sum {
    sum: i64,
}

/// Counts.
#[prompt]
fn count() -> Json<Sum> {
    Json(Sum { sum: 1 })
}

fn main() {}
