use mcp_runtime::prelude::*;

#[data]
#[form]
struct Order {
    name: String,
}

fn main() {}
