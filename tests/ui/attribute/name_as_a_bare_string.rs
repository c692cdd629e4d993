use mcp_runtime::prelude::*;

/// Says hello.
#[tool("hello")]
fn hello() -> &'static str {
    "hello"
}

fn main() {}
