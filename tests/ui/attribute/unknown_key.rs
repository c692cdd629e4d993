use mcp_runtime::prelude::*;

/// Says hello.
#[tool(readonly)]
fn hello() -> &'static str {
    "hello"
}

fn main() {}
