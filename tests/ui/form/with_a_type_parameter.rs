use mcp_runtime::prelude::*;

#[form]
struct Order<T> {
    what: T,
}

fn main() {}
