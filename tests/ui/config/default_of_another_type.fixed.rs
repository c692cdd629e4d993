use mcp_runtime::prelude::*;

#[config]
struct Config {
    #[config(default = 5.to_string())]
    root: String,
}

fn main() {}
