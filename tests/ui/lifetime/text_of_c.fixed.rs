use mcp_runtime::prelude::*;

/// Tells whether a name is empty.
#[tool]
fn is_nameless(name: String) -> bool {
    name.is_empty()
}

fn main() {}
