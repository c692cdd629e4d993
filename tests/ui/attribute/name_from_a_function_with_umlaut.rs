use mcp_runtime::prelude::*;

/// Die Größe.
#[tool]
fn größe() -> u32 {
    1
}

fn main() {}
