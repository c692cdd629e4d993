use mcp_runtime::prelude::*;

#[form]
struct Order<'a> {
    name: &'a str,
}

fn main() {}
