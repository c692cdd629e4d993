use mcp_runtime::prelude::*;

/// A user.
#[resource("users://{id}")]
fn user(id: u64) -> String {
    id.to_string()
}

fn main() {}
