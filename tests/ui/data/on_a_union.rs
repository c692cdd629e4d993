use mcp_runtime::prelude::*;

#[data]
union Either {
    a: u32,
    b: f32,
}

fn main() {}
