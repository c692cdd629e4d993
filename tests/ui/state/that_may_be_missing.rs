use mcp_runtime::prelude::*;

struct Db;

/// Counts.
#[tool]
fn count(db: Option<&Db>) -> bool {
    let _ = db;
    true
}

fn main() {}
