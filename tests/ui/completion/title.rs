use mcp_runtime::prelude::*;

#[completion(title = "Cities")]
fn cities(typed: &str) -> Vec<String> {
    vec![typed.to_owned()]
}

fn main() {}
