use mcp_runtime::prelude::*;

/// Cities.
#[completion]
fn cities() -> Vec<String> {
    Vec::new()
}

fn main() {}
