use mcp_runtime::prelude::*;

#[form]
enum Size {
    Small,
    Custom(u8),
}

fn main() {}
