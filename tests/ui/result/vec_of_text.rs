use mcp_runtime::prelude::*;

/// Lists.
#[tool]
fn list() -> Vec<String> {
    vec![String::new()]
}

fn main() {}
