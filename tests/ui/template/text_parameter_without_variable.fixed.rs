use mcp_runtime::prelude::*;

/// A user.
#[resource("users://{id}")]
fn user(id: &str) -> String {
    id.to_string()
}

fn main() {}
