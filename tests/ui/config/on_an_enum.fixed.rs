use mcp_runtime::prelude::*;

#[config]
struct Config {
    root: String,
}

fn main() {}
