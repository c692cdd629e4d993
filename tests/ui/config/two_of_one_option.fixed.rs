use mcp_runtime::prelude::*;

#[config]
struct Config {
    root: String,
    #[config(name = "other")]
    folder: String,
}

fn main() {}
