use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[serde(flatten)]
    name: String,
}

fn main() {}
