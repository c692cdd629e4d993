use mcp_runtime::prelude::*;

/// Drops.
#[tool]
fn ignore(value: String) -> String {
    let _ = value;
    String::new()
}

fn main() {}
