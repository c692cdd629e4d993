use mcp_runtime::prelude::*;

#[form]
struct Order {
    names: Option<String>,
}

fn main() {}
