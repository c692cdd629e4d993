use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(pattern = "^[A-Z]+$")]
    code: String,
}

fn main() {}
