use mcp_runtime::prelude::*;

#[form]
enum Size {
    #[serde(alias = "S")]
    Small,
    Large,
}

fn main() {}
