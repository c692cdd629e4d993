use mcp_runtime::prelude::*;

#[completion]
fn cities(typed: &str) -> Vec<String> {
    vec![typed.to_owned()]
}

fn main() {}
