use mcp_runtime::prelude::*;

const OWNER: &str = "me";

/// Says hello.
#[tool(meta(owner = "me"))]
fn hello() -> &'static str {
    OWNER
}

fn main() {}
