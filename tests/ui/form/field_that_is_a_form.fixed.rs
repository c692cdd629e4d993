use mcp_runtime::prelude::*;

#[form]
struct Address {
    street: String,
}

#[form]
struct Order {
    street: String,
}

fn main() {}
