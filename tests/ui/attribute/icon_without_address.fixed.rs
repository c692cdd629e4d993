use mcp_runtime::prelude::*;

/// Says hello.
#[tool(icon = "https://other/icon.png")]
fn hello() -> &'static str {
    "hello"
}

fn main() {}
