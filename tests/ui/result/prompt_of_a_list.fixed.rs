use mcp_runtime::prelude::*;

/// Writes.
#[prompt]
fn write() -> Vec<Message> {
    vec![Message::user(String::new())]
}

fn main() {}
