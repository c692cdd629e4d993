use mcp_runtime::prelude::*;

struct Db;

/// Counts.
#[tool]
async fn count(_db: State<Db>) -> u32 {
    0
}

fn main() {}
