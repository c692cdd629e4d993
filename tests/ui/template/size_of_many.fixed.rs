use mcp_runtime::prelude::*;

/// A page.
#[resource("book://pages/{number}")]
fn page(number: u32) -> String {
    number.to_string()
}

fn main() {}
