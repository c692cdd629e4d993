use mcp_runtime::prelude::*;

#[config]
struct Config {
    root: &'static str,
}

fn main() {}
