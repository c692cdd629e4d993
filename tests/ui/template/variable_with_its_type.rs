use mcp_runtime::prelude::*;

/// A user.
#[resource("users://{id:u64}")]
fn user(id: u64) -> String {
    id.to_string()
}

fn main() {}
