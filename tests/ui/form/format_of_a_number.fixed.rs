use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(format = "date")]
    day: String,
}

fn main() {}
