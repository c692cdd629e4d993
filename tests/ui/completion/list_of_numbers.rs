use mcp_runtime::prelude::*;

#[completion]
fn years(typed: &str) -> Vec<u32> {
    vec![typed.len() as u32]
}

fn main() {}
