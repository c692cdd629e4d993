use mcp_runtime::prelude::*;

#[config]
struct Config<T> {
    root: T,
}

fn main() {}
