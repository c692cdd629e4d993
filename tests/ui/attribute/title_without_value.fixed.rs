use mcp_runtime::prelude::*;

/// Says hello.
#[tool(title = "hello")]
fn hello() -> &'static str {
    "hello"
}

fn main() {}
