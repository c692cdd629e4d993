use mcp_runtime::prelude::*;

#[form]
enum Size {
    #[arg(default)]
    Small,
    Large,
}

#[form]
struct Order {
    size: Size,
}

fn main() {}
