use mcp_runtime::prelude::*;

/// Says hello.
#[tool(strict)]
fn hello(name: String) -> String {
    name
}

fn main() {}
