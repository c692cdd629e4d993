use mcp_runtime::prelude::*;

#[config]
struct Config {
    root: String,
    #[config(name = "root")]
    folder: String,
}

fn main() {}
