use mcp_runtime::prelude::*;

#[form]
enum Size {
    Small,
    Custom,
}

fn main() {}
