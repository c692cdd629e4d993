use mcp_runtime::prelude::*;

#[data]
struct Letter {
    to: String,
}

/// Writes.
#[prompt]
fn write(letter: String) -> String {
    letter
}

fn main() {}
