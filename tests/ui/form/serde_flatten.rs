use mcp_runtime::prelude::*;

#[data]
struct Address {
    street: String,
}

#[form]
struct Order {
    #[serde(flatten)]
    to: Address,
}

fn main() {}
