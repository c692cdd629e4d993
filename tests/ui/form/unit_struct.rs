use mcp_runtime::prelude::*;

#[form]
struct Order;

fn main() {}
