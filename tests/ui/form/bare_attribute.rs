use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg]
    code: String,
}

fn main() {}
