use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(default = 12, range(1..=12))]
    seats: u8,
}

fn main() {}
