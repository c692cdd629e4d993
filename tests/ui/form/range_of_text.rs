use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(range(1..=10))]
    name: String,
}

fn main() {}
