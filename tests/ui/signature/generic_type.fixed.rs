use mcp_runtime::prelude::*;

/// Prints.
#[tool]
fn print(value: String) -> String {
    value
}

fn main() {}
