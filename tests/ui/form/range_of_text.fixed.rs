use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(len(1..=10))]
    name: String,
}

fn main() {}
