use mcp_runtime::prelude::*;

#[config(env = "FILES")]
struct Config {
    root: String,
}

fn main() {}
