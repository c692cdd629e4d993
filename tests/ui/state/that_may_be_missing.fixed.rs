use mcp_runtime::prelude::*;

struct Db;

/// Counts.
#[tool]
fn count(db: &Db) -> bool {
    let _ = db;
    true
}

fn main() {}
