use mcp_runtime::prelude::*;

#[form]
struct Order {
    name: String,
    #[serde(skip)]
    seats: u8,
}

fn main() {}
