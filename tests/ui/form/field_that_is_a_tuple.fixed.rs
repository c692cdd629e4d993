use mcp_runtime::prelude::*;

#[form]
struct Order {
    size: u8,
}

fn main() {}
