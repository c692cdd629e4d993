use mcp_runtime::prelude::*;

/// A user.
#[resource("users://{user_id}")]
fn user(user_id: String) -> String {
    user_id
}

fn main() {}
