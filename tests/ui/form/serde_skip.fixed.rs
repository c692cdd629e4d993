use mcp_runtime::prelude::*;

#[form]
struct Order {
    name: String,
    seats: u8,
}

fn main() {}
