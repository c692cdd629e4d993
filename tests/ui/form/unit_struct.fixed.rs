use mcp_runtime::prelude::*;

#[form]
struct Order {
    seats: u8,
}

fn main() {}
