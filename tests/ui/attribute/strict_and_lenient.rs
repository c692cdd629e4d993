use mcp_runtime::prelude::*;

/// Says hello.
#[tool(strict, lenient)]
fn hello(name: String) -> String {
    name
}

fn main() {}
