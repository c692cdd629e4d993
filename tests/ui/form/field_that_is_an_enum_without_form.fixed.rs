use mcp_runtime::prelude::*;

#[form]
enum Size {
    Small,
    Large,
}

#[form]
struct Order {
    size: Size,
}

fn main() {}
