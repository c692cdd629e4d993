use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(name = "Code")]
    code: String,
}

fn main() {}
