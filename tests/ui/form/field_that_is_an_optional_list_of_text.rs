use mcp_runtime::prelude::*;

#[form]
struct Order {
    names: Option<Vec<String>>,
}

fn main() {}
