use mcp_runtime::prelude::*;

struct Inner {
    x: f64,
}

#[data]
struct Outer {
    inner: Inner,
}

fn main() {}
