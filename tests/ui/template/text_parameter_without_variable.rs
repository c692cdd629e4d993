use mcp_runtime::prelude::*;

/// A user.
#[resource("users://all")]
fn user(id: &str) -> String {
    id.to_string()
}

fn main() {}
