use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg]
    seats: u8,
}

fn main() {}
