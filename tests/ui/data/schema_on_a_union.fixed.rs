use mcp_runtime::prelude::*;

#[derive(Schema)]
struct Either {
    a: u32,
    b: f32,
}

fn main() {}
