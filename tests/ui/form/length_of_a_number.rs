use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(len(..=3))]
    seats: u8,
}

fn main() {}
