use mcp_runtime::prelude::*;

#[form]
struct Order {
    #[serde(rename = "Code")]
    code: String,
}

fn main() {}
