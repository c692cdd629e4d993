use mcp_runtime::prelude::*;

struct Db;

/// A user.
#[resource("users://all")]
fn users(#[arg(description = "The database")] _db: &Db) -> String {
    String::new()
}

fn main() {}
