use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(range(0..=10))]
    seats: u8,
}

fn main() {}
