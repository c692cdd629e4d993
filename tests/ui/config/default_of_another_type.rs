use mcp_runtime::prelude::*;

#[config]
struct Config {
    #[config(default = 5)]
    root: String,
}

fn main() {}
