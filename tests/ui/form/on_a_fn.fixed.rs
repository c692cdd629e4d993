use mcp_runtime::prelude::*;

#[tool]
fn order() -> String {
    String::new()
}

fn main() {}
