use mcp_runtime::prelude::*;

struct Id(u64);

/// A user.
#[resource("users://{id}")]
fn user(id: Id) -> String {
    id.0.to_string()
}

fn main() {}
