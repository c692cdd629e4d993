use mcp_runtime::prelude::*;

#[data]
struct Inner {
    x: f64,
}

#[data]
enum Outer {
    Known(Option<Vec<Inner>>),
    Other,
}

fn main() {}
