use mcp_runtime::prelude::*;

#[form]
struct Order {
    ok: bool,
}

fn main() {}
