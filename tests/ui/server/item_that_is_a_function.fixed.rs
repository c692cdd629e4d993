use mcp_runtime::prelude::*;

/// Says hello.
fn greet() -> &'static str {
    "hello"
}

/// Adds a tool.
#[tool]
fn unlock(server: Handle) -> Result<()> {
    server.add(Tool::new("greet").handler(async |_: Context| greet()))
}

fn main() {}
