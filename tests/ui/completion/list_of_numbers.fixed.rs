use mcp_runtime::prelude::*;

#[completion]
fn years(typed: &str) -> Vec<&str> {
    vec![typed]
}

fn main() {}
