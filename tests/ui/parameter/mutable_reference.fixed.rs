use mcp_runtime::prelude::*;

struct Db;

/// Counts.
#[tool]
fn count(db: &Db) -> u32 {
    let _ = db;
    0
}

fn main() {}
