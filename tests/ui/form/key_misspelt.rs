use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(defualt = 1)]
    seats: u8,
}

fn main() {}
