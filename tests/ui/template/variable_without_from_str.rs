use mcp_runtime::prelude::*;

struct Id(String);

/// A user.
#[resource("users://{id}")]
fn user(id: Id) -> String {
    id.0.to_string()
}

fn main() {}
