use mcp_runtime::prelude::*;

/// Cities.
#[completion]
fn cities(typed: &str) -> String {
    typed.lines().collect()
}

fn main() {}
