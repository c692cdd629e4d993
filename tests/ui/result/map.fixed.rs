use mcp_runtime::prelude::*;
use std::collections::HashMap;

/// Lists.
#[tool]
fn list() -> Json<HashMap<String, u32>> {
    Json(HashMap::new())
}

fn main() {}
