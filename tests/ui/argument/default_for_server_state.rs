use mcp_runtime::prelude::*;

struct Db;

/// Counts.
#[tool]
fn count(#[arg(default)] _db: &Db) -> u32 {
    0
}

fn main() {}
