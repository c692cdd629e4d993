use mcp_runtime::prelude::*;

#[form]
enum Size {
    Small,
    Large,
}

fn main() {}
