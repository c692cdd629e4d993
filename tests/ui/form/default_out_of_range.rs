use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(default = 20, range(1..=12))]
    seats: u8,
}

fn main() {}
