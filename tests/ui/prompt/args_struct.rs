use mcp_runtime::prelude::*;

#[data]
struct Letter {
    to: String,
}

/// Writes.
#[prompt]
fn write(letter: Args<Letter>) -> String {
    letter.to.clone()
}

fn main() {}
