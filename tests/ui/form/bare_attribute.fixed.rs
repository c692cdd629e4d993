use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(default = 1)]
    seats: u8,
}

fn main() {}
