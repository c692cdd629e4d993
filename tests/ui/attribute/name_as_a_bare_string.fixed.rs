use mcp_runtime::prelude::*;

/// Says hello.
#[tool(name = "hello")]
fn hello() -> &'static str {
    "hello"
}

fn main() {}
