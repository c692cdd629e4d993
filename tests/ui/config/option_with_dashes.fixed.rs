use mcp_runtime::prelude::*;

#[config]
struct Config {
    #[config(name = "root")]
    root: String,
}

fn main() {}
