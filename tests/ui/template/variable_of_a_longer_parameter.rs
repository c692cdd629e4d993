use mcp_runtime::prelude::*;

/// A user.
#[resource("users://{id}")]
fn user(user_id: u64) -> String {
    user_id.to_string()
}

fn main() {}
