use mcp_runtime::prelude::*;

#[form]
struct Order(String, u8);

fn main() {}
