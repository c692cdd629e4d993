use mcp_runtime::prelude::*;

/// Cities.
#[completion]
fn cities(typed: &str) -> Vec<&str> {
    typed.lines().collect()
}

fn main() {}
