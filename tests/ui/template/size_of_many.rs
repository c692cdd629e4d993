use mcp_runtime::prelude::*;

/// A page.
#[resource("book://pages/{number}", size = "1KB")]
fn page(number: u32) -> String {
    number.to_string()
}

fn main() {}
