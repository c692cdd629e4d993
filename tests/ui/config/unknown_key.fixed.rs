use mcp_runtime::prelude::*;

#[config]
struct Config {
    #[config(default = 5)]
    retries: u8,
}

fn main() {}
