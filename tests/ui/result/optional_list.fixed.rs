use mcp_runtime::prelude::*;

/// Lists.
#[tool]
fn list() -> Option<Json<Vec<String>>> {
    None
}

fn main() {}
