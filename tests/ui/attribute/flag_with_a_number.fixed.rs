use mcp_runtime::prelude::*;

/// Says hello.
#[tool(read_only)]
fn hello() -> &'static str {
    "hello"
}

fn main() {}
