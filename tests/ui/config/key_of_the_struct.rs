use mcp_runtime::prelude::*;

#[config(prefix = "FILES")]
struct Config {
    root: String,
}

fn main() {}
