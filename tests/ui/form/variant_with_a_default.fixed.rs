use mcp_runtime::prelude::*;

#[form]
enum Size {
    Small,
    Large,
}

#[form]
struct Order {
    #[arg(default = Size::Small)]
    size: Size,
}

fn main() {}
