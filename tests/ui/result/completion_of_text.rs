use mcp_runtime::prelude::*;

/// Cities.
#[completion]
fn cities(typed: &str) -> String {
    typed.to_owned()
}

fn main() {}
