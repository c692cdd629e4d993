use mcp_runtime::prelude::*;

#[data]
struct Either {
    a: u32,
    b: f32,
}

fn main() {}
