use mcp_runtime::prelude::*;

/// Says hello.
#[tool(title = "Hello", title = "Hi")]
fn hello() -> &'static str {
    "hello"
}

fn main() {}
