use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(len(..=10))]
    code: String,
}

fn main() {}
