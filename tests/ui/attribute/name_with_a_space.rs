use mcp_runtime::prelude::*;

/// Says hello.
#[tool(name = "say hello")]
fn hello() -> &'static str {
    "hello"
}

fn main() {}
