use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(format = "date")]
    day: u32,
}

fn main() {}
