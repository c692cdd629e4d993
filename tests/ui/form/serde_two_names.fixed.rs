use mcp_runtime::prelude::*;

#[form]
#[serde(rename_all = "camelCase")]
struct Order {
    full_name: String,
}

fn main() {}
