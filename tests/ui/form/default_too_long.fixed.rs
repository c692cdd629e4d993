use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(default = "Nobody", len(..=6))]
    name: String,
}

fn main() {}
