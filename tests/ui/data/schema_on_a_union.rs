use mcp_runtime::prelude::*;

#[derive(Schema)]
union Either {
    a: u32,
    b: f32,
}

fn main() {}
