use mcp_runtime::prelude::*;

#[form]
struct Order {
    name: &'static str,
}

fn main() {}
