use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(range(1..))]
    seats: u8,
}

fn main() {}
