use mcp_runtime::prelude::*;

/// Says hello.
#[tool(schema = "strict")]
fn hello(name: String) -> String {
    name
}

fn main() {}
