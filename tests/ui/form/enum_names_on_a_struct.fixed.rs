use mcp_runtime::prelude::*;

#[form]
struct Order {
    name: String,
}

fn main() {}
