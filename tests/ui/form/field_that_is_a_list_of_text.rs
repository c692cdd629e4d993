use mcp_runtime::prelude::*;

#[form]
struct Order {
    names: Vec<String>,
}

fn main() {}
