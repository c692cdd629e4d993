use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(default = 2)]
    seats: u8,
}

fn main() {}
