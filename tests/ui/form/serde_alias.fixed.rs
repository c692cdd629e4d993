use mcp_runtime::prelude::*;

#[form]
enum Size {
    #[serde(rename = "S")]
    Small,
    Large,
}

fn main() {}
