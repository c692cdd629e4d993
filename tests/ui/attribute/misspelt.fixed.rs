use mcp_runtime::prelude::*;

#[data]
struct Count {
    of: u32,
}

/// Counts.
#[tool]
fn count() -> Json<Count> {
    Json(Count { of: 0 })
}

fn main() {}
