use mcp_runtime::prelude::*;
use std::path::PathBuf;

/// Finds.
#[tool]
fn find() -> Json<PathBuf> {
    Json(PathBuf::new())
}

fn main() {}
