use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(minimum = 1)]
    seats: u8,
}

fn main() {}
