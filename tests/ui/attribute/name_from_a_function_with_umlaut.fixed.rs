use mcp_runtime::prelude::*;

/// Die Größe.
#[tool(name = "other")]
fn größe() -> u32 {
    1
}

fn main() {}
