use mcp_runtime::prelude::*;

#[config]
struct Config {
    verbose: bool,
}

fn main() {}
