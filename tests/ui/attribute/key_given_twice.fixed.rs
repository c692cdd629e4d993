use mcp_runtime::prelude::*;

/// Says hello.
#[tool(title = "Hello")]
fn hello() -> &'static str {
    "hello"
}

fn main() {}
