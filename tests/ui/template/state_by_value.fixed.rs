use mcp_runtime::prelude::*;

struct Db;

/// A user.
#[resource("users://{id}")]
fn user(id: u64, db: &Db) -> String {
    let _ = db;
    id.to_string()
}

fn main() {}
