use mcp_runtime::prelude::*;

#[form]
#[data]
struct Order {
    name: String,
}

fn main() {}
