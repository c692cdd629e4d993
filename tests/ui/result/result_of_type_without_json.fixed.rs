use mcp_runtime::prelude::*;

#[data]
struct Sum {
    sum: i64,
}

/// Adds.
#[tool]
async fn add(a: i64, b: i64) -> Result<Json<Sum>> {
    Ok(Json(Sum { sum: a + b }))
}

fn main() {}
