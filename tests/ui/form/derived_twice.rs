use mcp_runtime::prelude::*;

#[form]
#[derive(Deserialize)]
struct Order {
    name: String,
}

fn main() {}
