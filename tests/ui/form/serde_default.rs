use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[serde(default)]
    seats: u8,
}

fn main() {}
