use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(default)]
    seats: u8,
}

fn main() {}
