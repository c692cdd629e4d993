use mcp_runtime::prelude::*;
use std::path::PathBuf;

/// Finds.
#[tool]
fn find() -> PathBuf {
    PathBuf::new()
}

fn main() {}
