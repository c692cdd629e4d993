use mcp_runtime::prelude::*;

#[form(enum_names)]
struct Order {
    name: String,
}

fn main() {}
