use mcp_runtime::prelude::*;

#[form]
#[serde(untagged)]
enum Size {
    Small,
    Large,
}

fn main() {}
