use mcp_runtime::prelude::*;

/// Says hello.
#[tool(read_only = 1)]
fn hello() -> &'static str {
    "hello"
}

fn main() {}
