use mcp_runtime::prelude::*;

#[form]
enum Size {
    Small,
    Large,
}

#[form]
struct Order {
    #[arg(len(..=1))]
    size: Size,
}

fn main() {}
