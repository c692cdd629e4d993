use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(format = "datetime")]
    at: String,
}

fn main() {}
