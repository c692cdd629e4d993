use mcp_runtime::prelude::*;
use std::sync::Arc;

struct Db;

/// Counts.
#[tool]
fn count(db: Arc<Db>) -> u32 {
    let _ = db;
    0
}

fn main() {}
