use mcp_runtime::prelude::*;

#[data]
enum Size {
    Small,
    Large,
}

#[form]
struct Order {
    size: Size,
}

fn main() {}
