use mcp_runtime::prelude::*;

/// A user.
#[resource("users://{id}")]
fn user(id: String) -> String {
    id
}

fn main() {}
