use mcp_runtime::prelude::*;

#[form(title = "Order")]
struct Order {
    name: String,
}

fn main() {}
