use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(default = Some(2))]
    seats: Option<u8>,
}

fn main() {}
