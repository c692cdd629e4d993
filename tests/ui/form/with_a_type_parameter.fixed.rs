use mcp_runtime::prelude::*;

#[form]
struct Order {
    what: String,
}

fn main() {}
