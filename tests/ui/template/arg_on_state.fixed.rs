use mcp_runtime::prelude::*;

struct Db;

/// A user.
#[resource("users://all")]
fn users(_db: &Db) -> String {
    String::new()
}

fn main() {}
