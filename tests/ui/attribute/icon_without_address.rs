use mcp_runtime::prelude::*;

/// Says hello.
#[tool(icon)]
fn hello() -> &'static str {
    "hello"
}

fn main() {}
