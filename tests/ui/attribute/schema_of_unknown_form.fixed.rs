use mcp_runtime::prelude::*;

/// Says hello.
#[tool(schema = "compatible")]
fn hello(name: String) -> String {
    name
}

fn main() {}
