use mcp_runtime::prelude::*;

#[config]
struct Config {
    #[config]
    root: String,
}

fn main() {}
