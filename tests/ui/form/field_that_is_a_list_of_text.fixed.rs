use mcp_runtime::prelude::*;

#[form]
struct Order {
    names: String,
}

fn main() {}
