use mcp_runtime::prelude::*;

struct Db;

/// Counts.
#[tool]
fn count(_db: &Db) -> u32 {
    0
}

fn main() {}
