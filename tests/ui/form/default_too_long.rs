use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(default = "Nobody", len(..=3))]
    name: String,
}

fn main() {}
