use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(range(..=3))]
    seats: u8,
}

fn main() {}
