use mcp_runtime::prelude::*;

/// Lists.
#[tool]
fn list() -> Option<Vec<String>> {
    None
}

fn main() {}
