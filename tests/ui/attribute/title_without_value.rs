use mcp_runtime::prelude::*;

/// Says hello.
#[tool(title)]
fn hello() -> &'static str {
    "hello"
}

fn main() {}
