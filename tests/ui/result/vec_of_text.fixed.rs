use mcp_runtime::prelude::*;

/// Lists.
#[tool]
fn list() -> Json<Vec<String>> {
    Json(vec![String::new()])
}

fn main() {}
