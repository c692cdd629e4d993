use mcp_runtime::prelude::*;

/// Says hello.
#[tool(name = "say_hello")]
fn hello() -> &'static str {
    "hello"
}

fn main() {}
