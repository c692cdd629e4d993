use mcp_runtime::prelude::*;

#[data]
struct Address {
    street: String,
}

#[form]
struct Order {
    street: String,
}

fn main() {}
