use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[arg(format = "date-time")]
    at: String,
}

fn main() {}
