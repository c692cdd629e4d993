use mcp_runtime::prelude::*;

#[config]
struct Config {
    #[config(name = "--Root")]
    root: String,
}

fn main() {}
