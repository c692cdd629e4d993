use mcp_runtime::prelude::*;

/// Counts.
#[resource("app://count")]
fn count() -> Json<u32> {
    Json(1)
}

fn main() {}
