use mcp_runtime::prelude::*;

/// Says hello.
#[tool(title = "Hello", read_only)]
fn hello() -> &'static str {
    "hello"
}

fn main() {}
