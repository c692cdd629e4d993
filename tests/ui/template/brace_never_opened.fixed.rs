use mcp_runtime::prelude::*;

/// A user.
#[resource("users://id")]
fn user() -> String {
    String::new()
}

fn main() {}
