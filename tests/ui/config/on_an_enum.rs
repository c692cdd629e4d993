use mcp_runtime::prelude::*;

#[config]
enum Config {
    Root(String),
}

fn main() {}
