use mcp_runtime::prelude::*;

#[config]
struct Config {
    #[config(default = false)]
    verbose: bool,
}

fn main() {}
